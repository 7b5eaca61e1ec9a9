/** What must be true of runs that other runs' calls started. */
import type { ChildRow } from '../../lib/execution/children/child-row.ts';
import type { Execution } from '../../lib/execution/execution.ts';
import { isTerminal } from '../../lib/execution/status.ts';
import { committed } from '../../lib/execution/step/fuses.ts';
import { readChild, readExecution, readInput } from './reads.ts';
import type { Sim } from './sim-run.ts';

export const childrenAreSettled = (sim: Sim, executions: readonly Execution[]): string[] => {
  const records = sim.memory.dump().filter(({ sk }) => sk.startsWith('CHILD#'));
  if (records.length === 0) return [];
  const children = records.map((item) => ({ parent: item.pk.split('#').at(-1) ?? '', row: readChild(item) }));
  return [
    ...oneEach(executions, children),
    ...executions.flatMap((parent) => booksOf(sim, parent, executions, children)),
    ...budgetsHold(sim),
    ...terminateReaches(sim, executions),
  ];
};

type Child = { readonly parent: string; readonly row: ChildRow };

/** A run for each record, a record for each run. */
const oneEach = (executions: readonly Execution[], children: readonly Child[]): string[] => {
  const found: string[] = [];
  for (const { parent, row } of children) {
    const run = executions.find(({ executionId }) => executionId === row.executionId);
    if (run?.parentId !== parent) found.push(`the run ${row.executionId} of call ${row.seq}/${row.n} is missing`);
  }
  for (const { executionId, parentId } of executions) {
    const records = children.filter(({ row }) => row.executionId === executionId).length;
    if (parentId !== undefined && records !== 1) found.push(`${executionId} has ${records} records on its parent`);
  }
  return found;
};

const booksOf = (
  sim: Sim,
  parent: Execution,
  executions: readonly Execution[],
  children: readonly Child[],
): string[] => {
  const found: string[] = [];
  const mine = children.filter((child) => child.parent === parent.executionId);
  const runs = mine.flatMap(({ row }) => executions.filter(({ executionId }) => executionId === row.executionId));
  const open = mine.filter(({ row }) => row.state === 'open');
  if (parent.openChildren !== open.length) found.push(`${parent.openChildren} counted as open, ${open.length} are`);
  const carved = open.reduce((sum, { row }) => sum + row.budget, 0);
  if (parent.carved !== carved) found.push(`9: ${parent.carved} set aside for runs that were given ${carved}`);
  if (!isTerminal(parent.status)) return found;
  if (open.length > 0) found.push(`${parent.status} with ${open.length} open runs`);
  if (parent.openBelow !== 0) found.push(`${parent.openBelow} runs are counted below an ended one`);
  const cost = runs.reduce((sum, run) => sum + committed(run), 0);
  if (parent.childCost !== cost) found.push(`9: ${parent.childCost} booked for children that cost ${cost}`);
  const told = sim.memory
    .dump()
    .filter(({ pk, sk }) => pk.endsWith(parent.executionId) && sk.startsWith('INPUT#'))
    .map(readInput)
    .filter(({ kind }) => kind === 'child_result')
    .map(({ answers }) => answers);
  if (new Set(told).size !== told.length) found.push('a child was told twice');
  if (parent.status === 'COMPLETED' && told.length !== mine.length) {
    found.push(`${told.length} ends were told of ${mine.length} children`);
  }
  return found;
};

/** Spent and set aside never exceed what a run may cost, whenever one looks. */
const budgetsHold = (sim: Sim): string[] =>
  sim.observed.observations.flatMap(({ to }) => {
    const run = readExecution(to);
    return committed(run) > run.maxCost ? [`9: ${committed(run)} committed of ${run.maxCost}`] : [];
  });

/** An effect that was lost is found within two sweeps of ten minutes; a run that goes on for longer was not reached. */
const REACHED_MS = 1_800_000;

const terminateReaches = (sim: Sim, executions: readonly Execution[]): string[] =>
  executions.flatMap(({ executionId, parentId, status, finished }) => {
    const parent = executions.find((each) => each.executionId === parentId);
    if (parent?.status !== 'TERMINATED' || parent.finished === undefined || status === 'TERMINATED') return [];
    const late = (finished ?? sim.world.now) - parent.finished;
    return late > REACHED_MS ? [`${executionId} went on for ${late} ms after its parent was terminated`] : [];
  });
