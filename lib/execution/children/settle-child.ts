/** The end of a child comes back to its parent: once, as the outcome of the call that started it, and with its real cost. */
import { AppError } from '../../kernel/errors.ts';
import { keys } from '../../kernel/keys.ts';
import { add, type Change, eq, oneOf, set, TransactionRefused, type Write } from '../../kernel/table.ts';
import { A, type Execution } from '../execution.ts';
import { type At, getExecution } from '../get.ts';
import { giveInput } from '../input.ts';
import { isTerminal, TERMINAL } from '../status.ts';
import { send } from '../step/claim.ts';
import { type ExecutionDeps, NotYet } from '../step/deps.ts';
import { committed } from '../step/fuses.ts';
import { type ChildRow, readChild } from './child-row.ts';

/** Characters of a result that the input row shows; the parent's step reads the whole of it from the child. */
const SHOWN = 2_000;

const MAX_TRIES = 5;

/**
 * @throws NotYet while runs that the child itself started have not been settled; their end comes first
 */
export const settleChild = async (deps: ExecutionDeps, at: At): Promise<void> => {
  const child = await getExecution(deps.table, at);
  const { orgId, executionId, parentId, parentSeq, parentN } = child;
  if (parentId === undefined || parentSeq === undefined || parentN === undefined || !isTerminal(child.status)) return;
  if (child.openChildren > 0) throw new NotYet(`${child.openChildren} runs below this one have not been settled.`);
  const parentAt = { orgId, executionId: parentId };
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const item = await deps.table.get(keys.child(orgId, parentId, parentSeq, parentN), { consistent: true });
    const row = item && readChild(item);
    if (row === undefined || row.executionId !== executionId) return;
    const parent = await getExecution(deps.table, parentAt);
    if (row.state === 'ended') return wakeAgain(deps, parent, row);
    const settled = isTerminal(parent.status)
      ? await bookOnly(deps, parent, child, row)
      : await tell(deps, parent, child, row);
    if (settled) return;
  }
  throw new Error('The parent moved each time its child was to be settled.');
};

/** What was set aside is freed, what it cost is booked. The row of the child says that it happened, so it happens once. */
const changesFor = (parentId: string, child: Execution, row: ChildRow): readonly Change[] => [
  add(A.carved, -row.budget),
  add(A.childCost, committed(child)),
  add(A.openChildren, -1),
  ...(row.rootId === parentId ? [add(A.openBelow, -1)] : []),
];

const besides = (deps: ExecutionDeps, parentId: string, child: Execution, row: ChildRow): readonly Write[] => [
  {
    update: keys.child(child.orgId, parentId, row.seq, row.n),
    changes: [set('state', 'ended'), set('cost', committed(child)), set('endedAt', deps.clock.now())],
    if: eq('state', 'open'),
  },
  ...(row.rootId === parentId
    ? []
    : [{ update: keys.execution(child.orgId, row.rootId), changes: [add(A.openBelow, -1)], if: eq(A.version, 1) }]),
];

const tell = async (deps: ExecutionDeps, parent: Execution, child: Execution, row: ChildRow): Promise<boolean> => {
  const { executionId } = child;
  try {
    await giveInput(deps, parent, {
      kind: 'child_result',
      origin: `run ${executionId}`,
      trust: 'data',
      wake: true,
      text: `${child.status}: ${(child.result ?? child.errorMessage ?? '').slice(0, SHOWN)}`,
      dedupeKey: `child ${executionId}`,
      outcome: { of: executionId, changes: changesFor(parent.executionId, child, row) },
      alongside: () => besides(deps, parent.executionId, child, row),
    });
    return true;
  } catch (error) {
    // It ended meanwhile, or another delivery of this effect was faster: judged anew.
    if (error instanceof TransactionRefused || (error instanceof AppError && error.status === 409)) return false;
    throw error;
  }
};

/** A parent that has ended reads nothing any more; its books are still put right. */
const bookOnly = async (deps: ExecutionDeps, parent: Execution, child: Execution, row: ChildRow): Promise<boolean> => {
  try {
    await deps.table.transact([
      {
        update: keys.execution(parent.orgId, parent.executionId),
        changes: changesFor(parent.executionId, child, row),
        if: oneOf(A.status, TERMINAL),
      },
      ...besides(deps, parent.executionId, child, row),
    ]);
    return true;
  } catch (error) {
    if (error instanceof TransactionRefused) return false;
    throw error;
  }
};

/** Whoever settled it may have died before the parent's message went out. Where somebody is at the step, it dies as a copy. */
const wakeAgain = async (deps: ExecutionDeps, parent: Execution, row: ChildRow): Promise<void> => {
  const stands = parent.status === 'RUNNING' && parent.seq === row.seq && parent.leaseUntil === undefined;
  if (stands) await send(deps, parent, 0);
};
