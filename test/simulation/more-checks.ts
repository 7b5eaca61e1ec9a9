/** Checks that look at moments of a run rather than at its end, and what a single scenario promises. */
import { A, type Execution } from '../../lib/execution/execution.ts';
import { REPLY_N } from '../../lib/execution/feed.ts';
import { due, keys } from '../../lib/kernel/keys.ts';
import { readExecution, readFeedRow, readInput } from './reads.ts';
import { LEASE_MS, ORG, type Sim } from './sim-run.ts';

/** A model call ends within a beat of the termination; the calls of a beat take their time. */
const BEAT_MS = LEASE_MS / 3;
const ABORT_MS = BEAT_MS + 6_000;

/** Beats that failed or were late, over the whole run: each may have been the one that would have seen it. */
const lostBeats = (sim: Sim): number =>
  sim.injector.struck.filter(({ name, fault }) => name === 'update EXEC' && fault !== 'terminate').length;

/** The stall mark of an execution that just became RUNNING: three minutes, rounded up to the next. */
const MARK_MS = 300_000;

export const rowsNeverChange = (sim: Sim): string[] => sim.observed.overwritten.map((id) => `4: ${id} was overwritten`);

export const leasesAreKept = (sim: Sim): string[] =>
  sim.observed.trespasses.map((where) => `2: a commit under another's lease: ${where}`);

/** A call may not run once its outcome says that nobody knows whether it did. */
export const unknownIsFinal = (sim: Sim): string[] =>
  sim.effects
    .filter(({ tool }) => tool === 'pay')
    .flatMap(({ key, at }) => {
      const [executionId = '', seq, index] = key.split('-');
      const place = keys.feed(ORG, executionId, Number(seq), REPLY_N + 1 + Number(index));
      const row = sim.memory.dump().find((item) => item.pk === place.pk && item.sk === place.sk);
      const outcome = row && readFeedRow(row);
      const written = sim.observed.writtenAt(place);
      const late = outcome?.kind === 'tool' && outcome.outcome === 'unknown' && written !== undefined && written < at;
      return late ? [`5: ${key} ran after its outcome was declared unknown`] : [];
    });

/** Every step sees all replies before it; summaries make counting harder, so runs with them are left out. */
export const promptsAreComplete = (sim: Sim): string[] => {
  // In a workflow a step is shown what it is about.
  if (sim.scenario.config?.contextTokens !== undefined || sim.scenario.workflow !== undefined) return [];
  return sim.model.purchases.flatMap(({ process, replies, summary }) => {
    const work = sim.workOf.get(process);
    if (work === undefined || summary || replies === work.seq - 1) return [];
    return [`step ${work.seq} was thought with ${replies} of ${work.seq - 1} earlier replies in sight`];
  });
};

export const terminateHangsUp = (sim: Sim, execution: Execution): string[] => {
  const at = sim.observed.observations.find(
    ({ executionId, to }) => executionId === execution.executionId && to[A.status] === 'TERMINATED',
  )?.at;
  if (at === undefined) return [];
  return sim.model.purchases
    .filter(
      ({ process }) => sim.workOf.get(process)?.executionId === execution.executionId && process.frozenUntil === 0,
    )
    .filter(
      ({ process, endedAt }) => process.alive && (endedAt ?? sim.world.now) > at + ABORT_MS + lostBeats(sim) * BEAT_MS,
    )
    .map(() => 'terminate did not reach the model call in flight');
};

/** A question is not put while an input that nobody has read could answer it. */
export const questionsAreMoot = (sim: Sim, execution: Execution): string[] => {
  const { orgId, executionId } = execution;
  const items = sim.memory.dump().filter((item) => item.pk === keys.execution(orgId, executionId).pk);
  const inputs = items.filter((item) => item.sk.startsWith('INPUT#')).map(readInput);
  return sim.observed.observations.flatMap(({ executionId: id, from, to }) => {
    const parks = to[A.status] === 'WAITING_FOR_INPUT' && from?.[A.status] === 'RUNNING';
    if (id !== executionId || !parks) return [];
    const { seq } = readExecution(to);
    const row = items.find((item) => item.sk === keys.feed(orgId, executionId, seq, REPLY_N).sk);
    const reply = row && readFeedRow(row);
    if (reply?.kind !== 'reply') return [];
    const unread = inputs.filter(({ number, answers }) => answers === undefined && number > reply.inputs);
    return unread.some(({ number }) => number <= Number(to[A.inputs]))
      ? ['a question was put over an unread input']
      : [];
  });
};

/** Every move into RUNNING carries a mark that is near. */
export const marksAreNear = (sim: Sim, execution: Execution): string[] =>
  sim.observed.observations.flatMap(({ at, executionId, from, to }) => {
    const moves = to[A.status] === 'RUNNING' && from?.[A.status] !== 'RUNNING';
    if (executionId !== execution.executionId || !moves) return [];
    const mark = to[A.dueSk];
    const near = typeof mark === 'string' && due.at(mark) <= at + MARK_MS;
    return near ? [] : [`3: it became RUNNING with the mark ${String(mark)}`];
  });

/** Nobody decides twice. */
export const decisionsAreOnce = (sim: Sim): string[] => {
  const accepted = sim.decisions.filter(({ ok }) => ok).map(({ id }) => id);
  return accepted.filter((id, index) => accepted.indexOf(id) !== index).map((id) => `${id} was decided twice`);
};

export const promises = (sim: Sim, executions: readonly Execution[]): string[] => {
  const { expects } = sim.scenario;
  if (expects === undefined) return [];
  const found: string[] = [];
  const { maxSends = Infinity, maxPurchases = Infinity, maxMs = Infinity, pays } = expects;
  if (sim.queue.sends > maxSends) found.push(`2: ${sim.queue.sends} sends, at most ${maxSends} are due`);
  if (sim.model.purchases.length > maxPurchases)
    found.push(`7: ${sim.model.purchases.length} model calls, at most ${maxPurchases}`);
  const paid = sim.effects.filter(({ tool }) => tool === 'pay').length;
  if (pays !== undefined && paid !== pays) found.push(`5: the unsafe call ran ${paid} times, not ${pays}`);
  for (const { created, updated, executionId } of executions) {
    if (updated - created > maxMs) found.push(`3: ${executionId} took ${updated - created} ms, at most ${maxMs}`);
  }
  for (const { status, result } of executions) {
    const silent = sim.acceptedInputs.length === 0 && status === 'COMPLETED';
    if (silent && expects.result !== undefined && result !== expects.result) found.push(`the result is ${result}`);
  }
  if (expects.oneClaim === true && sim.observed.observations.some(({ to }) => Number(to[A.claims] ?? 0) > 1)) {
    found.push('10: a step was claimed twice');
  }
  if (expects.noRevival === true) found.push(...revivals(sim));
  return found;
};

/** A heartbeat that was sent in time may arrive late; one that was sent late may not pass. */
const revivals = (sim: Sim): string[] =>
  sim.observed.observations.flatMap(({ at, from, to }) => {
    const ended = Number(from?.[A.leaseUntil] ?? 0);
    const until = Number(to[A.leaseUntil] ?? 0);
    const same = from?.[A.leaseOwner] !== undefined && from[A.leaseOwner] === to[A.leaseOwner];
    return same && ended < at && until >= ended + LEASE_MS ? ['16: a lease that had ended was revived'] : [];
  });
