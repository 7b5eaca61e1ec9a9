import { feedItem } from '../../lib/execution/feed.ts';
import { stallMark } from '../../lib/execution/mark.ts';
import { newExecutionItem } from '../../lib/execution/new-execution.ts';
import { keys } from '../../lib/kernel/keys.ts';
import type { Change, Table } from '../../lib/kernel/table.ts';

export const ORG = 'org_00000000000000000000000000';
export const AGENT = 'agt_00000000000000000000000000';
export const NOW = 1_800_000_000_000;
export const executionIdOf = (n: number): string => `exe_${String(n).padStart(26, '0')}`;
export const at = (n = 0) => ({ orgId: ORG, executionId: executionIdOf(n) });

/** One execution of the one agent, as it stands after its start. */
export const putExecution = async (table: Table, n = 0, changes: readonly Change[] = []): Promise<void> => {
  const executionId = executionIdOf(n);
  const limits = { maxIterations: 25, maxSteps: 1_000, maxCost: 5_000_000, maxSeconds: 60, maxTokens: undefined };
  const given = { executionId, orgId: ORG, agentId: AGENT, projectId: 'prj', name: 'run', stepId: 'goal/think' };
  const mark = stallMark(executionId, NOW);
  await table.put(newExecutionItem({ ...given, limits, worst: 0, priceUnknown: false, windowTokens: 0 }, NOW, mark));
  await table.put({ ...keys.agentExecution(ORG, AGENT, executionId), v: 1, at: NOW });
  if (changes.length > 0) await table.update(keys.execution(ORG, executionId), changes);
};

/** A message of a person, as the step after it shows it. */
export const putMessage = (table: Table, seq: number, n: number, content: string): Promise<unknown> =>
  table.put(feedItem(ORG, executionIdOf(0), { kind: 'user', seq, n, at: NOW, content, origin: 'key' }));
