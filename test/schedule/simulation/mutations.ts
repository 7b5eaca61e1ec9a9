import { type Mutation, under } from '../../simulation/mutate.ts';

/** Guards of `lib/schedule`, each with the edit that takes it out. The simulation has to notice every one. */
export const MUTATIONS: readonly Mutation[] = under('lib/schedule', [
  {
    guard: 'the run and the row stand on the version that was read',
    file: 'fire.ts',
    find: 'put: scheduleItem(after), if: asRead(seen)',
    put: 'put: scheduleItem(after)',
  },
  {
    guard: 'what passes stands on the version that was read',
    file: 'announce.ts',
    find: 'deps.table.put(scheduleItem(after), asRead(seen))',
    put: 'deps.table.put(scheduleItem(after))',
  },
  { guard: 'the end of a run raises the version', file: 'floor.ts', find: "          add('version', 1),\n", put: '' },
  {
    guard: 'the end of a run sets the mark',
    file: 'floor.ts',
    find: "          set('dueSk', due.sk(change.at, scheduleId)),\n",
    put: '',
  },
  {
    guard: 'the id of a run comes from its due time',
    file: 'fire.ts',
    find: 'const executionId = occurrenceId(seen, dueAt);',
    put: 'const executionId = occurrenceId(seen, dueAt + seen.version);',
  },
  {
    guard: 'what has run in an earlier life is passed over',
    file: 'fire.ts',
    find: "if (began === 'there') begun.add(dueAt);",
    put: '',
  },
  {
    guard: 'a lost message is found by the mark',
    file: 'mark.ts',
    find: 'return isSoon(schedule, now) ? Math.max(schedule.nextAt, now) + FOUND_AGAIN_MS : schedule.nextAt;',
    put: 'return isSoon(schedule, now) ? undefined : schedule.nextAt;',
  },
  {
    guard: 'the tick leaves a mark behind the due time',
    file: 'tick.ts',
    find: 'mark === undefined\n',
    put: 'mark === undefined || soon\n',
  },
  {
    guard: 'only who has written the next occurrence sends it',
    file: 'fire.ts',
    find: "if (state === 'ACTIVE' && nextAt !== undefined && message.dueAt === nextAt)",
    put: "if (state === 'ACTIVE' && nextAt !== undefined)",
  },
  {
    guard: 'a paused schedule rests',
    file: 'judge.ts',
    find: "if (state !== 'ACTIVE') return { do: 'rest' };",
    put: '',
  },
  {
    guard: 'a run that waits for a mend does not count as running',
    file: 'fire.ts',
    find: ' && !STOPPED.includes(status)',
    put: '',
  },
  {
    guard: 'the queued one waits for the end of the run',
    file: 'judge.ts',
    find: 'if (pending !== undefined && !blocked) {',
    put: 'if (pending !== undefined) {',
  },
  {
    guard: 'maxRuns ends it',
    file: 'judge.ts',
    find: 'schedule.maxRuns !== undefined && schedule.runs >= schedule.maxRuns',
    put: 'schedule.maxRuns !== undefined && schedule.runs > schedule.maxRuns',
  },
  {
    guard: 'expiresAt ends it',
    file: 'judge.ts',
    find: 'const nextAt = spent || over ? undefined : schedule.nextAt;',
    put: 'const nextAt = spent ? undefined : schedule.nextAt;',
    // Where a fire comes too late the same rule stands once more.
    also: [
      { file: 'judge.ts', find: '(dueAt >= expiresAt || now - dueAt > GRACE_MS)', put: 'now - dueAt > 99 * GRACE_MS' },
    ],
  },
  {
    guard: 'one late run for all that was missed',
    file: 'judge.ts',
    find: 'const late = now - nextAt > GRACE_MS;',
    put: 'const late = false;',
  },
  {
    guard: 'skip starts nothing late',
    file: 'judge.ts',
    find: "if (late && misfire === 'skip' && now - dueAt > GRACE_MS)",
    put: 'if (false)',
  },
]);
