import { expect, test } from 'vitest';
import { judge } from '../../lib/schedule/judge.ts';
import type { Schedule } from '../../lib/schedule/schedule.ts';

const HOUR = 3_600_000;
const DUE = Date.parse('2026-03-02T09:00:00Z');
const once: Schedule = {
  id: 'sch_00000000000000000000000000',
  orgId: 'org_00000000000000000000000000',
  agentId: 'agt_00000000000000000000000000',
  version: 1,
  state: 'ACTIVE',
  startAt: DUE,
  nextAt: DUE,
  timezone: 'UTC',
  overlap: 'skip',
  misfire: 'fire-once',
  runs: 0,
  createdAt: '2026-03-01T09:00:00.000Z',
  createdBy: 'key_00000000000000000000000000',
  updatedAt: '2026-03-01T09:00:00.000Z',
};

test('a one-off that is three hours late after an outage still runs, and is over then', () => {
  expect(judge(once, DUE + 3 * HOUR, false)).toMatchObject({
    do: 'start',
    dueAt: DUE,
    after: { state: 'COMPLETED', runs: 1, nextAt: undefined },
  });
});

test('unless it says that it would rather not, and then it says that it was missed', () => {
  expect(judge({ ...once, misfire: 'skip' }, DUE + 3 * HOUR, false)).toMatchObject({
    do: 'pass',
    outcome: 'missed',
    after: { state: 'COMPLETED', runs: 0 },
  });
});
