import { describe, expect, it } from 'vitest';
import { due } from '../../../lib/kernel/keys.ts';
import { buryAssessment, isThreadRow, sweepThread } from '../../../lib/router/assess/tend.ts';
import { storeTrigger } from '../../../lib/router/thread/store.ts';
import { decideAll, makeTeam, ORG, said } from '../support/team.ts';

const MINUTE = 60_000;
const team = async () => {
  const made = await makeTeam(decideAll(() => ({ decision: 'ignore' })));
  const { threadId } = await storeTrigger(made.deps, ORG, said('@baton help'));
  made.queue.take();
  const [row] = made.table.dump().filter(isThreadRow);
  if (row === undefined) throw new Error('There is no Thread.');
  return { ...made, threadId, row };
};

describe('the sweep', () => {
  it('wakes a Thread whose time has come, once of two sweeps, and then waits longer', async () => {
    const { deps, row, clock, queue, thread } = await team();
    await sweepThread(deps, row);
    expect(queue.sent).toEqual([]);
    await clock.advance(4 * MINUTE);
    await Promise.all([sweepThread(deps, row), sweepThread(deps, row)]);
    expect(queue.take()).toHaveLength(1);
    const first = due.at(thread().dueSk ?? '');
    expect(first - clock.now()).toBeGreaterThanOrEqual(6 * MINUTE);
    await clock.advance(7 * MINUTE);
    await sweepThread(deps, row);
    expect(due.at(thread().dueSk ?? '') - clock.now()).toBeGreaterThanOrEqual(12 * MINUTE);
  });

  it('finds nothing where the Eval has come to its end', async () => {
    const { deps, row, clock, queue, assess, threadId } = await team();
    await deps.assess.send({ orgId: ORG, threadId }, { delaySeconds: 0, tenant: ORG });
    await assess();
    await clock.advance(10 * MINUTE);
    await sweepThread(deps, row);
    expect(queue.sent).toEqual([]);
  });
});

describe('what the queue gave up on', () => {
  it('is told to people, looked at later, and mended by an Eval that comes through', async () => {
    const { deps, threadId, table, thread, assess, clock } = await team();
    const attention = () => table.dump().filter(({ sk }) => sk.startsWith('att_'));
    await buryAssessment(deps, { orgId: ORG, threadId });
    await buryAssessment(deps, { orgId: ORG, threadId });
    expect(attention()).toMatchObject([{ kind: 'assessment_stopped' }]);
    expect(due.at(thread().dueSk ?? '')).toBeGreaterThan(clock.now());
    await deps.assess.send({ orgId: ORG, threadId }, { delaySeconds: 0, tenant: ORG });
    await assess();
    expect(attention()).toEqual([]);
    await buryAssessment(deps, { orgId: ORG, threadId });
    expect(attention()).toEqual([]);
  });
});
