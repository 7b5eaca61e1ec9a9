import { type Mutation, under } from '../../../simulation/mutate.ts';

/** Guards of Threads and Evals, each with the edit that takes it out. The simulation has to notice every one. */
export const MUTATIONS: readonly Mutation[] = under('lib/router', [
  {
    guard: 'a lease is let go only if dirty is what was seen',
    file: 'thread/lease.ts',
    find: "eq('dirty', dirty)",
    put: "eq('v', ROW_VERSION)",
  },
  {
    guard: 'what is stored raises dirty',
    file: 'thread/store.ts',
    find: "[add('dirty', 1), ...markChanges",
    put: '[...markChanges',
  },
  {
    guard: 'a commit stands on owner and epoch',
    file: 'thread/lease.ts',
    find: "and(eq('owner', owner), eq('epoch', epoch), gt('leaseUntil', now));",
    put: "eq('v', ROW_VERSION + 0 * now * epoch * owner.length);",
  },
  {
    guard: 'a commit stands on the policy',
    file: 'assess/commit.ts',
    find: '    policyStands(thread.orgId, policy.version),\n',
    put: '',
  },
  {
    guard: 'a commit stands on the revision that was judged',
    file: 'thread/deliver.ts',
    find: "and(eq('revision', revision), eq('state', state));",
    put: "and(eq('v', ROW_VERSION + 0 * revision), eq('state', state));",
  },
  {
    guard: 'a commit stands on the version of the subscriptions',
    file: 'thread/thread-writes.ts',
    find: "and(eq('v', ROW_VERSION), eq('subscriptions', subscriptions));",
    put: "eq('v', ROW_VERSION + 0 * subscriptions);",
  },
  {
    guard: 'a stop raises the version of the subscriptions',
    file: 'thread/store.ts',
    find: "[set('stoppedAt', happenedAt(trigger)), add('subscriptions', 1)]",
    put: "[set('stoppedAt', happenedAt(trigger))]",
  },
  {
    guard: 'what happened before a stop is not taken up',
    file: 'thread/route.ts',
    find: 'if (thread.stoppedAt !== undefined && happenedAt(trigger) <= thread.stoppedAt) {',
    put: 'if (thread.stoppedAt === -1) {',
  },
  {
    guard: 'a stop comes before the tickets',
    file: 'thread/route.ts',
    find: "  if (verdict.stop === true) return { to: 'stop' };\n",
    put: '',
  },
  {
    guard: 'tickets come before the model',
    file: 'thread/route.ts',
    find: "  if (hasTakers(thread, trigger)) return { to: 'tickets' };\n",
    put: '',
  },
  {
    guard: "the holder's own message waits for the end of its lease",
    file: 'thread/lease.ts',
    find: "if (thread.leaseMessage !== messageId) return { kind: 'done' };",
    put: "if (thread.leaseMessage !== '') return { kind: 'done' };",
  },
  {
    guard: 'a copy of a message that is gone passes the Thread on',
    file: 'assess/assess.ts',
    find: 'if (!(await hide(deps, delivery, Math.ceil(deps.settings.leaseMs / 1000) + 1))) {',
    put: 'if (!(await hide(deps, delivery, Math.ceil(deps.settings.leaseMs / 1000) + 1)) && thread.epoch < 0) {',
  },
  {
    guard: 'a holder whose message goes away passes the Thread on',
    file: 'assess/assess.ts',
    find: '    if (lease.orphaned) return await passOn(deps, lease, message);\n',
    put: '',
  },
  {
    guard: 'nothing is bought under a lease that has ended',
    file: 'assess/buy.ts',
    find: 'await lease.ensure(deps.settings.leaseMs / 2)',
    put: 'await Promise.resolve()',
  },
  {
    guard: 'a repeat wakes again what is pending',
    file: 'thread/store.ts',
    find: "if (seen.state === 'withdrawn' || !isNewer(seen, next)) return seen;",
    put: "if (seen.state === 'withdrawn' || !isNewer(seen, next)) return { ...seen, state: 'decided' };",
  },
  {
    guard: 'one object is one Trigger',
    file: 'thread/store.ts',
    find: ": missing('pk'),\n    },\n    ...pointer(trigger),",
    put: ": or(missing('pk'), exists('pk')),\n    },\n    ...pointer(trigger),",
    also: [
      {
        file: 'thread/store.ts',
        find: "{ put: triggerItem(trigger), if: missing('pk') },",
        put: '{ put: triggerItem(trigger) },',
      },
      {
        file: 'thread/store.ts',
        find: 'import { add, and, eq, exists, missing,',
        put: 'import { add, and, eq, exists, missing, or,',
      },
    ],
  },
  {
    guard: 'a lost message is found by the mark',
    file: 'thread/store.ts',
    find: "[add('dirty', 1), ...markChanges(trigger.threadId, lookAgainAt(now))]",
    put: "[add('dirty', 1), ...markChanges(trigger.threadId, lookAgainAt(now)).slice(2)]",
  },
  {
    guard: 'what was bought is used by the next holder',
    file: 'assess/resume.ts',
    find: 'if (claimed.attempts <= 1) return fresh;',
    put: 'if (claimed.attempts >= 1) return fresh;',
  },
  {
    guard: 'a deletion that comes first is remembered',
    file: 'thread/withdraw.ts',
    find: "if (await ifAllStill(deps.table, [{ put: aliasItem(key, { gone: gone.at }), if: missing('pk') }])) return {};",
    put: 'return {};',
  },
]);
