import { BOOK_MUTATIONS } from './book-mutations.ts';
import { PEOPLE_MUTATIONS } from './people-mutations.ts';
import { TURN_MUTATIONS } from './turn-aims.ts';
import { WORKFLOW_MUTATIONS } from './workflow-aims.ts';

/** Guards of the step protocol, each with the edit that takes it out. The simulation has to notice every one. */
export interface Mutation {
  /** Number in the list of counterexamples, or the name of a load-bearing guard. */
  readonly guard: string;
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** A second guard that holds the same invariant: only both together are load-bearing. */
  readonly also?: readonly { readonly file: string; readonly find: string; readonly put: string }[];
}

const step = (name: string): string => `lib/execution/step/${name}.ts`;
const child = (name: string): string => `lib/execution/children/${name}.ts`;

export const MUTATIONS: readonly Mutation[] = [
  {
    guard: '1 a later claim reads the reply strongly',
    file: step('recover'),
    find: 'allPages(deps.table, { ...keys.feedRange(orgId, executionId, seq, seq), consistent: true })',
    put: 'allPages(deps.table, { ...keys.feedRange(orgId, executionId, seq, seq), consistent: false })',
  },
  {
    guard: '1 the load is checked for missing rows',
    file: step('load'),
    find: 'if (draft.from > windowFrom || !isComplete(rows, windowFrom, seq)) {',
    put: 'if (draft.from > windowFrom) {',
  },
  {
    guard: '2 only a holder with lease left says "unknown"',
    file: step('act'),
    find: '    await lease.confirm();\n',
    put: '',
  },
  {
    guard: 'who says "unknown" asks the table, not its own clock',
    file: step('act'),
    find: 'await lease.confirm();',
    put: 'await lease.ensure(MARGIN_MS);',
  },
  {
    guard: 'a message before its time by another clock stays in the queue',
    file: step('claim'),
    find: "own || earlyMs > EARLY_MS ? { kind: 'done' }",
    put: "own || earlyMs > 0 ? { kind: 'done' }",
  },
  {
    guard: '3 a started row that shows my own name is mine',
    file: step('act'),
    find: 'if (readStarted(error.item).creator !== lease.owner) return unknown();',
    put: 'return unknown();',
  },
  {
    guard: '4 a commit needs RUNNING or PAUSED',
    file: step('commit'),
    find: "and(stillHeld(lease.owner, execution, now), oneOf(A.status, ['RUNNING', 'PAUSED']))",
    put: 'eq(A.seq, execution.seq)',
  },
  {
    guard: '4 terminate clears the lease',
    file: 'lib/execution/control.ts',
    find: '      ...leaseGone,\n',
    put: '',
  },
  {
    guard: '5 a commit consumes what its prompt contained, not what was loaded',
    file: step('finish-turn'),
    find: 'consumed: reply.inputs,',
    put: 'consumed: execution.inputs,',
  },
  {
    guard: '5 the end of a run conditions on the waking inputs of its reply',
    file: step('commit'),
    find: "await attempt('RUNNING', ends, and(fence(lease, execution, now), eq(A.wakingInputs, ending.waking)));",
    put: "await attempt('RUNNING', ends, fence(lease, execution, now));",
  },
  {
    guard: '6 parking for input conditions on the inputs counter',
    file: step('park'),
    find: "    ...(question.kind === 'question' && { unless: eq(A.wakingInputs, waking) }),\n",
    put: '',
  },
  {
    guard: '7 a decision for a paused execution moves pausedFrom',
    file: 'lib/execution/settle.ts',
    find: ": [set(A.pausedFrom, 'RUNNING' satisfies Status)]",
    put: ': []',
  },
  {
    guard: '7 an input for a paused execution moves pausedFrom',
    file: 'lib/execution/input.ts',
    find: "return [set(A.pausedFrom, 'RUNNING' satisfies Status)];",
    put: 'return [];',
  },
  {
    guard: '8 every move into RUNNING sets the mark',
    file: step('changes'),
    find: '  ...setMark(stallMark(executionId, now)),\n',
    put: '',
  },
  {
    guard: '9 other claims of a seq are booked at their worst case',
    file: step('commit'),
    find: 'add(A.cost, done.spent.cost + Math.max(0, execution.reserved - execution.worst)),',
    put: 'add(A.cost, done.spent.cost),',
  },
  {
    guard: '9 a billed time-out books the worst case',
    file: step('turn'),
    find: 'outcome.billed ? execution.worst : 0',
    put: '0',
  },
  {
    guard: '9 terminate books what is reserved',
    file: 'lib/execution/control.ts',
    find: '      addFrom(A.cost, A.reserved),\n',
    put: '',
  },
  {
    guard: '10 a refused claim that shows my own name is a success',
    file: step('claim'),
    find: "if (execution.leaseOwner === owner && execution.seq === message.seq) return { kind: 'mine', execution };",
    put: '',
  },
  {
    guard: '11 waiting wears no attempts out',
    file: step('release'),
    find: '        set(A.messageId, delivery.messageId),\n        set(A.attempts, execution.attempts - 1),\n',
    put: '        set(A.messageId, delivery.messageId),\n',
  },
  {
    guard: '12 only the released message stands in for a lost send',
    file: step('claim'),
    find: 'if (own) await sendWhenDue(deps, execution, execution.notBefore);',
    put: 'if (delivery.receiveCount >= 1) await sendWhenDue(deps, execution, execution.notBefore);',
  },
  {
    guard: '13 a message ahead of the row waits',
    file: step('claim'),
    find: "if (message.seq > execution.seq) return { kind: 'later', seconds: AHEAD_SECONDS };",
    put: "if (message.seq > execution.seq) return { kind: 'done' };",
  },
  {
    guard: '14 a refused commit is an error',
    file: step('process'),
    find: 'if (error instanceof LeaseLost) throw new NotYet(error.message);',
    put: 'if (error instanceof LeaseLost) return;',
  },
  {
    guard: "15 the holder's own message waits for the end of its lease",
    file: step('claim'),
    find: 'if (leaseMs >= 0 && execution.leaseMessage === delivery.messageId) return leaseEnd;',
    put: '',
  },
  {
    guard: '16 a lease that has ended is not revived, nor committed under',
    file: step('lease'),
    find: 'and(eq(A.leaseOwner, owner), eq(A.seq, execution.seq), gt(A.leaseUntil, now));',
    put: 'and(eq(A.leaseOwner, owner), eq(A.seq, execution.seq));',
  },
  {
    guard: '17 a refused fuse is judged again',
    file: step('stop'),
    find: "    throw new NotYet('The execution moved while a fuse was written.');\n",
    put: '    return;\n',
  },
  {
    guard: '18 the re-send is bound to the message that the commit recorded',
    file: step('claim'),
    find: 'if (own && execution.seq === message.seq + 1) await send(deps, execution, 0);',
    put: 'if (execution.seq === message.seq + 1) await send(deps, execution, 0);',
  },
  {
    guard: 'lease check',
    file: step('claim'),
    find: '        or(missing(A.leaseUntil), lt(A.leaseUntil, now)),\n      ),\n    );',
    put: '      ),\n    );',
  },
  {
    guard: 'owner fence at commit',
    file: step('commit'),
    find: 'and(stillHeld(lease.owner, execution, now), oneOf',
    put: 'and(eq(A.seq, execution.seq), oneOf',
  },
  {
    guard: 'put if absent of the reply',
    file: step('buy'),
    find: "const absent = missing('pk');",
    put: "const absent = missing('never');",
  },
  {
    guard: 'started row before an unsafe call',
    file: step('act'),
    find: "if (planned.effect === 'unsafe') return runUnsafe(actor, planned);",
    put: '',
  },
  {
    guard: 'lease left after it was lengthened',
    file: step('lease'),
    find: '    while (this.#until - this.#deps.clock.now() < ms) await',
    put: '    if (this.#until - this.#deps.clock.now() < ms) await',
  },
  {
    guard: 'lease left before an unsafe call',
    file: step('act'),
    find: '  await lease.ensure(planned.tool.timeoutSeconds * 1000 + MARGIN_MS);\n',
    put: '',
  },
  {
    guard: 'put if absent of an outcome',
    file: step('act'),
    find: "    await deps.table.put(item, missing('pk'));\n    return { ...row, v: 1 };",
    put: '    await deps.table.put(item);\n    return { ...row, v: 1 };',
  },
  {
    guard: 're-send of seq+1 after a commit that died before its send',
    file: step('claim'),
    find: 'if (own && execution.seq === message.seq + 1) await send(deps, execution, 0);',
    put: '',
  },
  {
    guard: 're-send after a release that died before its send',
    file: step('claim'),
    find: 'if (own) await sendWhenDue(deps, execution, execution.notBefore);',
    put: '',
  },
  {
    guard: 'attempts fuse',
    file: step('fuses'),
    find: 'execution.attempts > MAX_ATTEMPTS',
    put: 'execution.attempts > MAX_ATTEMPTS * 1000',
  },
  {
    guard: 'notBefore holds the next claim',
    file: step('claim'),
    find: '        or(missing(A.notBefore), le(A.notBefore, now)),\n',
    put: '',
  },
  {
    guard: 'conditional mark of the sweep',
    file: 'lib/execution/clock.ts',
    find: "const seen = (execution: Execution) => and(eq(A.dueSk, execution.dueSk ?? ''), eq(A.duePk, execution.duePk ?? ''));",
    put: 'const seen = (_: Execution) => eq(A.version, 1);',
  },
  {
    guard: 'conditional decision',
    file: 'lib/execution/settle.ts',
    find: "        if: state === 'expired' ? eq('state', 'pending') : and(eq('state', 'pending'), inTime(now)),\n",
    put: '',
    also: [{ file: 'lib/execution/settle.ts', find: '        if: asSeen(execution),\n', put: '' }],
  },
  {
    guard: 'the visibility of the holder is shortened to the lease',
    file: step('process'),
    find: 'deps.steps.changeVisibility(delivery.receiptHandle, leaseSeconds),',
    put: 'Promise.resolve(),',
  },
  {
    guard: 'resume conditions on the state it saw',
    file: 'lib/execution/control.ts',
    find: '          eq(A.status, execution.status),\n          eq(A.since, execution.since),\n          ...pausedFromAsSeen(execution),\n',
    put: "          exists('pk'),\n",
  },
  ...PEOPLE_MUTATIONS,
  ...TURN_MUTATIONS,
  ...BOOK_MUTATIONS,
  {
    guard: 'a wait ends at its time and not before',
    file: step('wake-wait'),
    find: 'execution.waitUntil !== undefined && execution.waitUntil <= now;',
    put: 'execution.waitUntil !== undefined;',
    also: [{ file: step('wake-wait'), find: '          le(A.waitUntil, now),\n', put: '' }],
  },
  {
    guard: 'who ends a wait sends its step on',
    file: step('process'),
    find: "  await send(deps, { ...execution, status: 'RUNNING' }, aside);\n",
    put: '',
  },
  {
    guard: 're-send after a wait that died before its send',
    file: step('claim'),
    find: '  if (own) await sendWhenDue(deps, execution, waitUntil);\n',
    put: '',
  },
  {
    guard: 'a wait has its mark in the transaction that begins it',
    file: step('wait'),
    find: '      ...setMark(waitMark(execution.executionId, row.until, deps.clock.now())),\n',
    put: '',
  },
  {
    guard: 'a wait for a message conditions on the inputs counter',
    file: step('wait'),
    find: '    ...(row.wakeOnInput && { unless: eq(A.wakingInputs, row.waking) }),\n',
    put: '',
  },
  {
    guard: 'an input for a paused wait is remembered',
    file: 'lib/execution/input.ts',
    find: "(standsFor(execution) === 'WAIT_STEP' && endsWait(execution, input))",
    put: "(execution.status === 'WAIT_STEP' && endsWait(execution, input))",
  },
  {
    guard: 'a wait wears no attempts out',
    file: step('park'),
    find: '    set(A.attempts, execution.attempts - 1),\n',
    put: '',
  },
  ...WORKFLOW_MUTATIONS,
  {
    guard: "a parent does not sleep through its child's end",
    file: step('call-children'),
    find: "        if: eq('state', 'open'),\n",
    put: "        if: eq('v', 1),\n",
  },
  {
    guard: "a child's end is told and booked once",
    file: child('settle-child'),
    find: "    if (row.state === 'ended') return wakeAgain(deps, parent, row);\n",
    put: '',
    also: [
      { file: child('settle-child'), find: "    if: eq('state', 'open'),\n", put: "    if: eq('v', 1),\n" },
      { file: child('settle-child'), find: 'dedupeKey: `child', put: 'replyTo: `child' },
    ],
  },
  {
    guard: 'terminate knows of the children that a step starts',
    file: 'lib/execution/control.ts',
    find: '          childrenAsSeen(execution),\n',
    put: '',
  },
  {
    guard: 'the end of a run ends those that it started',
    file: 'lib/effect/child-effects.ts',
    find: '...(openChildren === 0\n',
    put: '...(openChildren >= 0\n',
  },
  {
    guard: 'what is set aside is not given a second time',
    file: child('books'),
    find: 'maxCost - cost - childCost - carved - reserved;',
    put: 'maxCost - cost - childCost - reserved + 0 * carved;',
  },
  {
    guard: 'the same call starts the same run',
    file: child('start-child'),
    find: ".next('exe', saidAt);",
    put: ".next('exe', saidAt + Math.floor(Math.random() * 1e6));",
    also: [{ file: step('call-children'), find: 'execution.claims <= 1 ? [] : await recordsOf(actor)', put: '[]' }],
  },
  {
    guard: 'a child is settled after those below it',
    file: child('settle-child'),
    find: 'if (child.openChildren > 0) throw new NotYet',
    put: 'if (child.openChildren < 0) throw new NotYet',
  },
  {
    guard: 'a settlement that died before its message wakes the parent again',
    file: child('settle-child'),
    find: '  if (stands) await send(deps, parent, 0);\n',
    put: '',
  },
];
