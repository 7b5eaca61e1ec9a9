import type { Mutation } from './mutate.ts';

const ATTENTION_FLOOR = 'lib/attention/floor.ts';

/** Guards around what people are asked, each with the edit that takes it out. */
export const PEOPLE_MUTATIONS: readonly Mutation[] = [
  {
    guard: 'a decision counts for the call that was shown',
    file: 'lib/execution/step/permission.ts',
    find: '  ask.argumentsHash === argumentsHash({ name: ask.tool, arguments: ask.arguments });',
    put: '  true;',
  },
  {
    guard: 'a permission can be found when it expires',
    file: 'lib/execution/step/park.ts',
    find: "      ...markAt('tick', askId, now + expiry.ms),\n",
    put: '',
  },
  {
    guard: 'an expiry is never an approval',
    file: 'lib/execution/expire.ts',
    find: "{ state: 'expired', actor: CLOCK }",
    put: "{ state: 'approved', actor: CLOCK }",
  },
  {
    guard: 'nothing expires before its time',
    file: 'lib/execution/expire.ts',
    find: '    if (ask.expiresAt !== undefined && ask.expiresAt > deps.clock.now()) return true;\n',
    put: '',
  },
  {
    guard: 'a decision after its time approves nothing',
    file: 'lib/execution/decide.ts',
    find: "    if (ask.state === 'expired' || isOverdue(ask, deps.clock.now())) throw await tooLate(deps, ask);\n",
    put: '',
    also: [
      {
        file: 'lib/execution/settle.ts',
        find: "and(eq('state', 'pending'), inTime(now))",
        put: "eq('state', 'pending')",
      },
    ],
  },
  {
    guard: 'an expiry and a decision: one of them stands',
    file: 'lib/execution/settle.ts',
    find: "        if: state === 'expired' ? eq('state', 'pending') : and(eq('state', 'pending'), inTime(now)),\n",
    put: '',
    also: [{ file: 'lib/execution/settle.ts', find: '        if: asSeen(execution),\n', put: '' }],
  },
  {
    guard: 'the pause of an expiry ends with the decision',
    file: 'lib/execution/settle.ts',
    find: "execution.status !== 'PAUSED' || execution.reason === PERMISSION_EXPIRED",
    put: "execution.status !== 'PAUSED'",
  },
  {
    guard: 'a step that stands still outlasts a pause and a resume at the same moment',
    file: 'lib/execution/step/park.ts',
    find: '      seen = row;\n',
    put: "      return 'overtaken';\n",
  },
  {
    guard: 'attention opens with a permission',
    file: 'lib/execution/step/park.ts',
    find: ', ...(deps.upper.asks?.({ ask, at: now }) ?? [])',
    put: '',
  },
  {
    guard: 'attention closes with a decision',
    file: 'lib/execution/settle.ts',
    find: '      ...(deps.upper.asks?.({ ask: { ...ask, state }, at: now }) ?? []),\n',
    put: '',
  },
  {
    guard: 'attention closes with an answer',
    file: 'lib/execution/input.ts',
    find: "          ...(deps.upper.asks?.({ ask: { ...answers, state: 'answered' }, at: now }) ?? []),\n",
    put: '',
  },
  {
    guard: 'attention closes with what is cancelled',
    file: 'lib/execution/control.ts',
    find: "      ...(deps.upper.asks?.({ ask: { ...ask, state: 'cancelled' }, at: now }) ?? []),\n",
    put: '',
  },
  {
    guard: 'attention closes when a stopped run goes on',
    file: ATTENTION_FLOOR,
    find: '      ...(left === undefined ? [] : [closeAttention(left)]),\n',
    put: '',
  },
  {
    guard: 'attention opens when a run stops',
    file: ATTENTION_FLOOR,
    find: '      ...(entered === undefined ? [] : [openAttention(stopItem(change, entered))]),\n',
    put: '',
  },
];
