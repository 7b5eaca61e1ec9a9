/** The invariants of an execution, judged from outside: rows, purchases, effects, messages. */
import { A, type Execution } from '../../lib/execution/execution.ts';
import { type FeedRow, REPLY_N } from '../../lib/execution/feed.ts';
import { isTerminal, type Status } from '../../lib/execution/status.ts';
import { booksAreExact, budgetHolds, limitsHold } from './book-checks.ts';
import { childrenAreSettled } from './child-checks.ts';
import {
  decisionsAreOnce,
  leasesAreKept,
  marksAreNear,
  promises,
  promptsAreComplete,
  questionsAreMoot,
  rowsNeverChange,
  terminateHangsUp,
  turnsAreMoot,
  unknownIsFinal,
} from './more-checks.ts';
import { attentionMirrors, refusedNeverRuns } from './people-checks.ts';
import { readExecution, readFeedRow } from './reads.ts';
import { ORG, type Sim } from './sim-run.ts';
import { waitsAreKept } from './wait-checks.ts';

export const violationsOf = (sim: Sim): string[] => {
  const found = [...sim.violations];
  const items = sim.memory.dump();
  for (const surprise of sim.surprises) found.push(`an unexpected error: ${describe(surprise)}`);
  const executions = items.filter((item) => item.sk === 'EXEC').map(readExecution);
  for (const execution of executions) {
    const id = execution.executionId;
    const pk = `ORG#${ORG}#EXEC#${id}`;
    const feed = items.filter((item) => item.pk === pk && item.sk.startsWith('FEED#')).map(readFeedRow);
    found.push(
      ...atRest(sim, execution),
      ...oneChain(sim, execution),
      ...feedIsWhole(execution, feed),
      ...inputsWereSeen(sim, execution),
      ...terminateHangsUp(sim, execution),
      ...questionsAreMoot(sim, execution),
      ...turnsAreMoot(sim, execution),
      ...marksAreNear(sim, execution),
      ...waitsAreKept(sim, execution),
    );
  }
  found.push(
    ...moneyIsBooked(sim, executions),
    ...effectsOnce(sim),
    ...promptsAreValid(sim),
    ...sendsAreBounded(sim, executions),
    ...rowsNeverChange(sim),
    ...leasesAreKept(sim),
    ...unknownIsFinal(sim),
    ...promptsAreComplete(sim),
    ...decisionsAreOnce(sim),
    ...attentionMirrors(sim),
    ...refusedNeverRuns(sim),
    ...childrenAreSettled(sim, executions),
    ...promises(sim, executions),
    ...booksAreExact(sim),
    ...budgetHolds(sim),
    ...limitsHold(sim),
  );
  return found;
};

const describe = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** 3: no silent stop. */
const atRest = (sim: Sim, execution: Execution): string[] => {
  if (execution.status === 'RUNNING') return [`3: RUNNING at rest at seq ${execution.seq}`];
  const left = sim.queue.size;
  return isTerminal(execution.status) && left > 0 ? [`2: ${left} messages are left after the end`] : [];
};

/** 2: each seq is committed once and in order; what has ended stands. */
const oneChain = (sim: Sim, execution: Execution): string[] => {
  const found: string[] = [];
  let terminal: string | undefined;
  for (const { at, process, executionId, from, to } of sim.observed.observations) {
    if (executionId !== execution.executionId || from === undefined) continue;
    const before = Number(from[A.seq]);
    const after = Number(to[A.seq]);
    if (after !== before && after !== before + 1) found.push(`2: seq went from ${before} to ${after}`);
    if (terminal !== undefined && to[A.status] !== terminal)
      found.push(`terminal ${terminal} became ${String(to[A.status])}`);
    if (isTerminal(to[A.status] as Status)) terminal = String(to[A.status]);
    if (Number(to[A.cost]) < Number(from[A.cost] ?? 0)) found.push('9: booked cost went down');
    if (Number(to[A.reserved] ?? 0) < 0) found.push(`9: reserved is ${String(to[A.reserved])}`);
    if (Number(to[A.attempts] ?? 0) < 0) found.push(`10: attempts are ${String(to[A.attempts])}`);
    const claimed = Number(to[A.claims] ?? 0) > Number(from[A.claims] ?? 0);
    if (claimed && Number(from[A.notBefore] ?? 0) > at + process.aheadMs)
      found.push(`step ${before} was claimed before its time`);
    if (Number(to[A.claims] ?? 0) > Number(from[A.claims] ?? 0) + 1) found.push('10: one claim was counted twice');
  }
  return found;
};

/** Every step below seq has its reply, every call of it an outcome. */
const feedIsWhole = (execution: Execution, feed: readonly FeedRow[]): string[] => {
  const found: string[] = [];
  const at = new Map(feed.map((row) => [`${row.seq}/${row.n}`, row]));
  for (let seq = 1; seq < execution.seq; seq++) {
    const reply = at.get(`${seq}/${REPLY_N}`);
    if (reply === undefined) found.push(`4: step ${seq} has no reply`);
    if (reply?.kind !== 'reply') continue;
    const ends = seq === execution.seq - 1 && execution.status === 'COMPLETED';
    reply.calls.forEach((call, index) => {
      const outcome = at.get(`${seq}/${REPLY_N + 1 + index}`);
      if (outcome === undefined && !(ends && call.name === 'finish'))
        found.push(`5: call ${seq}/${call.name} has no outcome`);
    });
  }
  return found;
};

/** Accepted input is in a prompt, or is the outcome of the question it answers. */
const inputsWereSeen = (sim: Sim, execution: Execution): string[] => {
  if (execution.status !== 'COMPLETED') return [];
  const said = sim.model.purchases
    .flatMap((purchase) => purchase.messages.map((message) => message.content))
    .join('\n');
  const rows = sim.memory
    .dump()
    .filter((item) => item.pk.endsWith(execution.executionId) && item.sk.startsWith('FEED#'));
  const kept = rows.map((row) => readFeedRow(row).content).join('\n');
  return sim.acceptedInputs
    .filter((input) => input.executionId === execution.executionId)
    .filter((input) => !said.includes(input.text) && !kept.includes(input.text))
    .map((input) => `accepted input ${input.text} was never read`);
};

/** 7, 9: what was spent is booked. */
const moneyIsBooked = (sim: Sim, executions: readonly Execution[]): string[] => {
  const spent = sim.model.purchases.reduce((sum, purchase) => sum + purchase.cost, 0);
  const booked = executions.reduce((sum, execution) => sum + execution.cost + execution.reserved, 0);
  return booked < spent ? [`9: ${booked} booked for ${spent} spent`] : [];
};

/** 5: an idempotent call has one key; an unsafe one runs once at most. */
const effectsOnce = (sim: Sim): string[] => {
  const found: string[] = [];
  const pays = new Map<string, number>();
  for (const effect of sim.effects) {
    if (effect.tool === 'pay') pays.set(effect.key, (pays.get(effect.key) ?? 0) + 1);
  }
  for (const [key, times] of pays) if (times > 1) found.push(`5: unsafe call ${key} ran ${times} times`);
  return found;
};

/** Every call of a reply is answered, in order, right behind it. */
const promptsAreValid = (sim: Sim): string[] => {
  for (const { messages } of sim.model.purchases) {
    for (let index = 0; index < messages.length; index++) {
      const message = messages[index];
      if (message?.role === 'tool') return [`a tool message at ${index} answers nothing`];
      if (message?.role !== 'assistant') continue;
      for (const call of message.toolCalls ?? []) {
        const answer = messages[++index];
        if (answer?.role !== 'tool' || answer.toolCallId !== call.id)
          return [`call ${call.id} is not answered where it must be`];
      }
    }
  }
  return [];
};

/** 2: copies of messages die out. A step sends once; each fault and each person's act may add a few. */
const sendsAreBounded = (sim: Sim, executions: readonly Execution[]): string[] => {
  const steps = executions.reduce((sum, execution) => sum + execution.seq, 0);
  const acts =
    sim.injector.struck.length + sim.outside.struck.length + sim.decisions.length + sim.acceptedInputs.length;
  // Each wait has the message of its end, the tick's, and that of the step behind it.
  const waits = sim.observed.observations.filter(
    ({ from, to }) => to[A.status] === 'WAIT_STEP' && from?.[A.status] !== 'WAIT_STEP',
  ).length;
  const allowed = steps + executions.length + sim.model.busyAnswers + (acts + waits) * 3 + 12;
  return sim.queue.sends > allowed
    ? [`2: ${sim.queue.sends} sends for ${steps} steps and ${acts} faults and acts`]
    : [];
};
