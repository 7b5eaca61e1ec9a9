import { describe, expect, it } from 'vitest';
import { MessageGone } from '../../lib/kernel/ports.ts';
import { ConditionFailed } from '../../lib/kernel/table.ts';
import { type Holding, Lease, LeaseLost } from '../../lib/lease/lease.ts';
import { makeFakeClock } from '../support/fake-clock.ts';
import { makeMemoryLog } from '../support/memory-log.ts';

const LEASE_MS = 30_000;

const held = (given: Partial<Pick<Holding, 'extend' | 'hide'>> = {}) => {
  const clock = makeFakeClock(0);
  const log = makeMemoryLog();
  const requests: string[] = [];
  const lease = new Lease(
    { clock, log, settings: { leaseMs: LEASE_MS } },
    {
      owner: 'o1',
      until: LEASE_MS,
      extend: async (until, now) => {
        requests.push(`until ${until}`);
        await given.extend?.(until, now);
      },
      hide: async (seconds) => {
        requests.push(`hide ${seconds}`);
        await given.hide?.(seconds);
      },
    },
  );
  return { clock, log, requests, lease };
};

describe('the lease of a holder', () => {
  it('is extended by each beat, its message with it, until it is stopped', async () => {
    const { clock, requests, lease } = held();
    await clock.advance(20_000);
    expect(requests).toEqual(['until 40000', 'hide 31', 'until 50000', 'hide 31']);
    await lease.stop();
    await clock.advance(60_000);
    expect(requests).toHaveLength(4);
    expect(lease.signal.aborted).toBe(false);
  });

  it('asks nobody for time that is left, and for what is not once', async () => {
    const { requests, lease } = held();
    await lease.ensure(LEASE_MS);
    expect(requests).toEqual([]);
    await lease.ensure(100_000);
    // The beats after it do not shorten it.
    expect(requests).toEqual(['until 130000', 'hide 131']);
    await lease.stop();
  });

  it('looks again after an extension in which its process stood still', async () => {
    let stands = 200_000;
    const { clock, requests, lease } = held({
      extend: async () => {
        const ms = stands;
        stands = 0;
        await clock.advance(ms);
      },
    });
    // The heartbeat of a process that stands still stands too.
    await lease.stop();
    await lease.ensure(60_000);
    expect(requests).toEqual(['until 90000', 'hide 91', 'until 290000', 'hide 91']);
  });

  it('confirms by the table and not by its own clock', async () => {
    const { requests, lease } = held();
    await lease.confirm();
    expect(requests).toEqual(['until 30000', 'hide 31']);
    await lease.stop();
  });

  it('is lost where the row refuses: the signal aborts, and nothing is asked any more', async () => {
    const { clock, requests, lease } = held({
      extend: () => Promise.reject(new ConditionFailed(undefined)),
    });
    await clock.advance(10_000);
    expect(lease.signal.aborted).toBe(true);
    expect(lease.orphaned).toBe(false);
    await expect(lease.ensure(1)).rejects.toThrow(LeaseLost);
    await expect(lease.confirm()).rejects.toThrow(LeaseLost);
    await clock.advance(60_000);
    expect(requests).toEqual(['until 40000']);
  });

  it('is an orphan where its message is gone', async () => {
    const { clock, lease } = held({ hide: () => Promise.reject(new MessageGone('deleted')) });
    await clock.advance(10_000);
    expect(lease.signal.aborted).toBe(true);
    expect(lease.orphaned).toBe(true);
    await expect(lease.ensure(1)).rejects.toThrow(LeaseLost);
  });

  it('survives a beat that fails', async () => {
    let fails = 1;
    const { clock, log, requests, lease } = held({
      extend: async () => {
        if (fails-- > 0) throw new Error('throttled');
      },
    });
    await clock.advance(20_000);
    expect(log.lines).toMatchObject([{ level: 'warn', message: 'A heartbeat failed.' }]);
    expect(requests).toEqual(['until 40000', 'until 50000', 'hide 31']);
    await lease.stop();
  });
});
