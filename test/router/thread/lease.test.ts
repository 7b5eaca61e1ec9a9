import { describe, expect, it } from 'vitest';
import { LeaseLost } from '../../../lib/lease/lease.ts';
import { claimThread, ThreadLease } from '../../../lib/router/thread/lease.ts';
import { storeTrigger } from '../../../lib/router/thread/store.ts';
import { decideAll, makeTeam, ORG, said } from '../support/team.ts';

const LEASE_MS = 30_000;
const team = async () => {
  const made = await makeTeam(decideAll(() => ({ decision: 'ignore' })));
  const { threadId } = await storeTrigger(made.deps, ORG, said('@baton help'));
  const message = { orgId: ORG, threadId };
  const delivery = (messageId: string) => ({ messageId, receiptHandle: messageId, receiveCount: 1 });
  const claim = (messageId: string, owner: string) => claimThread(made.deps, message, delivery(messageId), owner);
  return { ...made, message, delivery, claim };
};

describe('the lease of a Thread', () => {
  it('I5: one of many who claim at once has it', async () => {
    const { claim, thread } = await team();
    const claims = await Promise.all(Array.from({ length: 9 }, (_, index) => claim(`m${index}`, `o${index}`)));
    expect(claims.filter(({ kind }) => kind === 'mine')).toHaveLength(1);
    // Whoever meets it is done: the holder sees dirty.
    expect(claims.filter(({ kind }) => kind === 'done')).toHaveLength(8);
    expect(thread()).toMatchObject({ epoch: 1, attempts: 1 });
  });

  it("makes the holder's own message wait for its end", async () => {
    const { claim } = await team();
    await claim('m1', 'o1');
    expect(await claim('m1', 'o2')).toEqual({ kind: 'later', seconds: LEASE_MS / 1000 + 1 });
  });

  it('is recognised by its own claim whose answer was lost', async () => {
    const { claim } = await team();
    await claim('m1', 'o1');
    expect(await claim('m1', 'o1')).toMatchObject({ kind: 'mine', thread: { epoch: 1 } });
  });

  it('H67, H68: ends by time, whoever held it, and frees the Thread under a new epoch', async () => {
    const { claim, clock } = await team();
    await claim('m1', 'dead');
    await clock.advance(LEASE_MS + 1);
    expect(await claim('m2', 'o2')).toMatchObject({ kind: 'mine', thread: { epoch: 2, attempts: 2, owner: 'o2' } });
  });

  it('I5: a stale epoch lets nothing go and is told that it has lost', async () => {
    const { deps, claim, clock, delivery, thread } = await team();
    const old = await claim('m1', 'dead');
    if (old.kind !== 'mine') throw new Error('It was not claimed.');
    const lease = new ThreadLease(deps, old.thread, 'dead', delivery('m1'));
    await lease.stop();
    await clock.advance(LEASE_MS + 1);
    await claim('m2', 'o2');
    await expect(lease.release(old.thread.dirty)).rejects.toThrow(LeaseLost);
    await lease.handOver();
    expect(() => lease.check(thread())).toThrow(LeaseLost);
    expect(thread().owner).toBe('o2');
  });

  it('is extended while its holder works, its message with it', async () => {
    const { deps, claim, clock, delivery, thread, queue } = await team();
    const held = await claim('m1', 'o1');
    if (held.kind !== 'mine') throw new Error('It was not claimed.');
    const lease = new ThreadLease(deps, held.thread, 'o1', delivery('m1'));
    await clock.advance(3 * LEASE_MS);
    expect(await claim('m2', 'o2')).toEqual({ kind: 'done' });
    expect(queue.visibilityChanges.at(-1)).toEqual({ receiptHandle: 'm1', seconds: LEASE_MS / 1000 + 1 });
    expect(lease.signal.aborted).toBe(false);
    expect(await lease.release(thread().dirty)).toBe(true);
    expect(thread().owner).toBeUndefined();
  });

  it('is kept where something was stored since', async () => {
    const { deps, claim, delivery, thread } = await team();
    const held = await claim('m1', 'o1');
    if (held.kind !== 'mine') throw new Error('It was not claimed.');
    const lease = new ThreadLease(deps, held.thread, 'o1', delivery('m1'));
    await storeTrigger(deps, ORG, said('more'));
    expect(await lease.release(held.thread.dirty)).toBe(false);
    expect(thread().owner).toBe('o1');
    expect(await lease.release(thread().dirty)).toBe(true);
  });

  it('says done of a Thread that does not exist', async () => {
    const { deps, delivery } = await team();
    const nowhere = { orgId: ORG, threadId: 'thr_x' };
    expect(await claimThread(deps, nowhere, delivery('m'), 'o')).toEqual({ kind: 'done' });
  });
});
