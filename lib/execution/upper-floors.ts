import type { UpperFloors } from './step/deps.ts';

/** Several floors as one: the rows of all stand in the same transaction, then all are woken, whatever one of them says. */
export const together = (floors: readonly UpperFloors[]): UpperFloors => ({
  writes: (change) => floors.flatMap((floor) => floor.writes(change)),
  asks: (change) => floors.flatMap((floor) => floor.asks?.(change) ?? []),
  async wake(change) {
    const woken = await Promise.allSettled(floors.map((floor) => floor.wake(change)));
    const failed = woken.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  },
  async committed(execution) {
    for (const floor of floors) await floor.committed?.(execution);
  },
  daySpent: (spent) => floors.flatMap((floor) => floor.daySpent?.(spent) ?? []),
  warns: (warning) => floors.flatMap((floor) => floor.warns?.(warning) ?? []),
  async wakeWarning(warning) {
    for (const floor of floors) await floor.wakeWarning?.(warning);
  },
});
