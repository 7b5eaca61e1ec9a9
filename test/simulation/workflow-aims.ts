/** Guards of workflows: where to look for the lack of each, and the edit that takes it out. */
import type { Aim } from './aims.ts';
import type { Mutation } from './mutate.ts';
import { WORKFLOW_BASES } from './workflow-scenarios.ts';

const base = (name: string): Aim['base'] => {
  const found = WORKFLOW_BASES[name];
  if (found === undefined) throw new Error(`There is no scenario "${name}".`);
  return { ...found, clock: false };
};

const LISTS = base('a list of tasks that grows in front');
const QUEUE = base('a queue whose tasks need leave');
const CHECKED = base('a tool, a choice, a wait, a condition');

export const WORKFLOW_AIMS: { readonly [guard: string]: Aim } = {
  'a list of tasks shows at the commit of its step': { base: LISTS, at: ['crash_after', /^put TASK$/] },
  'a position moves in the fenced commit and nowhere else': { base: CHECKED, at: ['crash_before', /commit$/] },
  'what a step without a model decided is stored once': { base: CHECKED, at: ['lease_expiry', /^put FEED$/], seeds: 5 },
  'the end of a workflow waits for unread messages': { base: QUEUE, at: ['input', /./] },
};

const room = (name: string): string => `lib/execution/step/workflow/${name}.ts`;

export const WORKFLOW_MUTATIONS: readonly Mutation[] = [
  {
    guard: 'a list of tasks shows at the commit of its step',
    file: room('queues'),
    find: 'keys.task(orgId, executionId, seq, index)',
    put: 'keys.task(orgId, executionId, 1, index)',
    also: [
      { file: room('queues'), find: "deps.table.put(row, missing('pk'))", put: 'deps.table.put(row)' },
      {
        file: room('queues'),
        find: 'return [seq, 0, tasks.length, since];',
        put: 'return [1, 0, tasks.length, since];',
      },
    ],
  },
  {
    guard: 'a position moves in the fenced commit and nowhere else',
    file: room('go'),
    find: '  await commitStep(deps, lease, execution, delivery, stepDone(frame, done, position, pause));',
    put: `  await deps.table.update({ pk: \`ORG#\${execution.orgId}#EXEC#\${execution.executionId}\`, sk: 'EXEC' }, [set(A.stepId, position)]);
  await commitStep(deps, lease, execution, delivery, stepDone(frame, done, position, pause));`,
  },
  {
    guard: 'what a step without a model decided is stored once',
    file: room('quiet'),
    find: "if: missing('pk') };",
    put: "if: { op: 'not' as const, not: missing('nothing') } };",
  },
  {
    guard: 'the end of a workflow waits for unread messages',
    file: room('go'),
    find: "if ('bought' in done.by || allRead(frame, done)) {",
    put: 'if (allRead(frame, done) || true) {',
  },
];
