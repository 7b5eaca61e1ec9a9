/** Checks of what people are asked. */
import { askCause } from '../../lib/attention/asks.ts';
import { attentionIdOf } from '../../lib/attention/attention.ts';
import { daySpentCause } from '../../lib/attention/day-spent.ts';
import { stopCause } from '../../lib/attention/stops.ts';
import { FIRST_CALL_N } from '../../lib/execution/feed.ts';
import { DAILY_BUDGET_SPENT } from '../../lib/execution/step/daily-budget.ts';
import { isRefusal } from '../../lib/execution/step/permission.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { readAsk, readExecution } from './reads.ts';
import { ORG, type Sim } from './sim-run.ts';

/** What waits for a person is listed, and nothing else: each open permission and question, each run that was stopped. */
export const attentionMirrors = (sim: Sim): string[] => {
  const items = sim.memory.dump();
  const asked = items
    .filter((item) => item.sk.startsWith('ASK#'))
    .map(readAsk)
    .filter(({ state }) => state === 'pending')
    .map((ask) => attentionIdOf(askCause(ask)));
  const stopped = items
    .filter((item) => item.sk === 'EXEC')
    .map(readExecution)
    // One item stands for all runs that the budget of the day has stopped.
    .filter(({ reason }) => reason !== DAILY_BUDGET_SPENT)
    .flatMap((execution) => stopCause(execution, execution.status, execution.since) ?? [])
    .map(attentionIdOf);
  const spent = items
    .filter((item) => item.sk.startsWith('BUDGET#') && item.spentAt !== undefined)
    .map(({ sk }) => attentionIdOf(daySpentCause({ orgId: ORG, day: sk.slice('BUDGET#'.length) })));
  const due = [...asked, ...stopped, ...spent].sort().join(', ');
  const listed = items
    .filter((item) => item.pk === keys.attentions(ORG).pk)
    .map((item) => item.sk)
    .sort()
    .join(', ');
  return due === listed ? [] : [`attention lists ${listed || 'nothing'}; what waits is ${due || 'nothing'}`];
};

/** A call that a person or the clock refused has never run. */
export const refusedNeverRuns = (sim: Sim): string[] =>
  sim.memory
    .dump()
    .filter((item) => item.sk.startsWith('ASK#'))
    .map(readAsk)
    .filter((ask) => isRefusal(ask))
    .map(({ executionId, seq, n }) => `${executionId}-${seq}-${n - FIRST_CALL_N}`)
    .filter((key) => sim.effects.some((effect) => effect.key === key))
    .map((key) => `the refused call ${key} ran`);
