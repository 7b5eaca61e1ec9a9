import { createHash } from 'node:crypto';
import { conflict } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import {
  and,
  type Change,
  eq,
  type Key,
  missing,
  not,
  oneOf,
  remove,
  set,
  TransactionRefused,
  type Write,
} from '../kernel/table.ts';
import { wake } from './control.ts';
import { A, type Execution } from './execution.ts';
import { type At, getExecution } from './get.ts';
import { counted, numberAsSeen } from './numbered.ts';
import { type AskRow, type InputRow, inputItem, readAsk } from './rows.ts';
import { isTerminal, type Status, TERMINAL } from './status.ts';
import { intoRunning, turnBegins } from './step/changes.ts';
import type { ExecutionDeps } from './step/deps.ts';
import { allPages } from './step/load.ts';

export interface NewInput {
  readonly kind: string;
  readonly origin: string;
  readonly trust: InputRow['trust'];
  readonly wake: boolean;
  readonly text: string;
  readonly dedupeKey?: string | undefined;
  readonly replyTo?: string | undefined;
  /** It is the outcome of a call, and no answer to a question: of which run, and what else it changes on the execution. */
  readonly outcome?: { readonly of: string; readonly changes: readonly Change[] } | undefined;
  /** It is counted and waits: it does not begin a turn. */
  readonly hold?: boolean | undefined;
  /** Further changes of the execution where it begins a turn. */
  readonly turn?: ((execution: Execution) => readonly Change[]) | undefined;
  /** Written in the same transaction, made from the execution as the input leaves it. */
  readonly alongside?: ((execution: Execution) => readonly Write[]) | undefined;
}

const MAX_TRIES = 10;

/** Whether the input ends what the execution waits for, paused meanwhile or not. */
const stirs = (execution: Execution, input: NewInput, ask: AskRow | undefined): boolean =>
  input.wake &&
  (ask !== undefined ||
    beginsTurn(execution, input) ||
    (standsFor(execution) === 'WAIT_STEP' && endsWait(execution, input)));

/** Between its turns a run asks nothing: any waking message is the next one. */
const beginsTurn = (execution: Execution, { outcome, hold }: NewInput): boolean =>
  outcome === undefined && hold !== true && execution.parked !== undefined && waitsForInput(execution);

/** A wait for children has no time; only they end it. */
const endsWait = ({ wakeOnInput, waitUntil }: Execution, { outcome }: NewInput): boolean =>
  outcome === undefined ? wakeOnInput === true : waitUntil === undefined;

const standsFor = (execution: Execution): Status =>
  execution.status === 'PAUSED' ? (execution.pausedFrom ?? 'RUNNING') : execution.status;

/** What the input does to the status, beside being counted. */
const statusChanges = (
  execution: Execution,
  input: NewInput,
  ask: AskRow | undefined,
  now: number,
): readonly Change[] => {
  if (!stirs(execution, input, ask)) return [];
  const turn = beginsTurn(execution, input) ? [...turnBegins, ...(input.turn?.(execution) ?? [])] : [];
  if (execution.status !== 'PAUSED') {
    const runs = [set(A.status, 'RUNNING' satisfies Status), set(A.since, now)];
    return [...runs, ...intoRunning(execution.executionId, now), ...turn];
  }
  if (turn.length > 0) return [set(A.pausedFrom, 'RUNNING' satisfies Status), ...turn];
  // A paused execution that waited for this: resume must not lead back to a question that is answered.
  return [set(A.pausedFrom, 'RUNNING' satisfies Status)];
};

/** The execution as the input leaves it, so that a repeat under the same idempotency key is told the same. */
const withInput = (execution: Execution, input: NewInput, ask: AskRow | undefined, now: number): Execution => {
  const counted = {
    ...execution,
    inputs: execution.inputs + 1,
    wakingInputs: execution.wakingInputs + (input.wake ? 1 : 0),
    updated: now,
    ...(beginsTurn(execution, input) && { parked: undefined, turnUntil: undefined, reason: undefined }),
  };
  if (!stirs(execution, input, ask)) return counted;
  return execution.status === 'PAUSED'
    ? { ...counted, pausedFrom: 'RUNNING' }
    : { ...counted, status: 'RUNNING', since: now, runningSince: now };
};

const waitsForInput = (execution: Execution): boolean => standsFor(execution) === 'WAITING_FOR_INPUT';

/** A question that waits for its answer, with the row's own key. */
type OpenQuestion = AskRow & { readonly key: Key };

const openQuestion = async (deps: ExecutionDeps, execution: Execution): Promise<OpenQuestion | undefined> => {
  const { orgId, executionId, seq } = execution;
  const items = await allPages(deps.table, { ...keys.asksOf(orgId, executionId, seq), consistent: true });
  return items
    .map((item) => ({ ...readAsk(item), key: { pk: item.pk, sk: item.sk } }))
    .find((ask) => ask.kind === 'question' && ask.state === 'pending');
};

/**
 * Adds a message to an execution: it answers an open question, or is read by the next step. One transaction that
 * conditions on the inputs counter, so that numbers have no gaps and none is given twice.
 * @throws AppError 404; 409 when it has ended
 */
export const giveInput = async (deps: ExecutionDeps, at: At, input: NewInput): Promise<Execution> => {
  for (let attempt = 1; ; attempt++) {
    const execution = await getExecution(deps.table, at);
    if (isTerminal(execution.status)) {
      throw conflict('execution_ended', `The execution is ${execution.status} and reads no more input.`, {
        from: execution.status,
      });
    }
    const now = deps.clock.now();
    const asked = input.outcome === undefined && waitsForInput(execution) && execution.parked === undefined;
    const ask = asked ? await openQuestion(deps, execution) : undefined;
    const dedupe =
      input.dedupeKey === undefined ? undefined : keys.inputDedupe(at.orgId, at.executionId, hashed(input.dedupeKey));
    try {
      await deps.table.transact(writesFor(deps, execution, input, ask, now, dedupe));
      if (execution.status !== 'PAUSED' && stirs(execution, input, ask)) {
        const after = await getExecution(deps.table, at);
        if (after.status === 'RUNNING') {
          await deps.upper.wake({ execution, from: execution.status, to: 'RUNNING', reason: undefined, at: now });
          await wake(deps, after);
        }
      }
      return withInput(execution, input, ask, now);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      // The dedupe row is the last of ours: the input is there already.
      if (dedupe !== undefined && error.refused[2]) return getExecution(deps.table, at);
      if (!error.refused[0] || attempt === MAX_TRIES) throw error;
    }
  }
};

const hashed = (key: string): string => createHash('sha256').update(key).digest('hex');

const writesFor = (
  deps: ExecutionDeps,
  execution: Execution,
  input: NewInput,
  ask: OpenQuestion | undefined,
  now: number,
  dedupe: { readonly pk: string; readonly sk: string } | undefined,
): readonly Write[] => {
  const { orgId, executionId } = execution;
  const number = execution.inputs + 1;
  const waking = execution.wakingInputs + (input.wake ? 1 : 0);
  const answers = ask !== undefined && input.wake ? ask : undefined;
  const becomesRunning = execution.status !== 'PAUSED' && stirs(execution, input, ask);
  return [
    {
      update: keys.execution(orgId, executionId),
      changes: [
        set(A.inputs, number),
        set(A.wakingInputs, waking),
        set(A.updated, now),
        ...statusChanges(execution, input, ask, now),
        ...(input.outcome?.changes ?? []),
        ...(becomesRunning ? [counted(execution)] : []),
      ],
      if: and(
        eq(A.inputs, execution.inputs),
        eq(A.status, execution.status),
        eq(A.since, execution.since),
        numberAsSeen(execution),
        execution.pausedFrom === undefined ? missing(A.pausedFrom) : eq(A.pausedFrom, execution.pausedFrom),
        not(oneOf(A.status, TERMINAL)),
      ),
    },
    {
      put: inputItem(orgId, executionId, {
        number,
        waking,
        kind: input.kind,
        origin: input.origin,
        trust: input.trust,
        wake: input.wake,
        dedupeKey: input.dedupeKey,
        replyTo: input.replyTo,
        text: input.text,
        answers: input.outcome?.of ?? answers?.askId,
        at: now,
      }),
      if: missing('pk'),
    },
    ...(dedupe === undefined ? [] : [{ put: { ...dedupe, v: 1, number }, if: missing('pk') }]),
    ...(answers === undefined
      ? []
      : [
          {
            update: answers.key,
            changes: [
              set('state', 'answered'),
              set('feedback', input.text),
              set('decidedAt', now),
              set('decidedBy', input.origin),
              remove('ownerPk'),
              remove('ownerSk'),
            ],
            if: eq('state', 'pending'),
          },
          ...(deps.upper.asks?.({ ask: { ...answers, state: 'answered' }, at: now }) ?? []),
        ]),
    ...(becomesRunning
      ? deps.upper.writes({ execution, from: execution.status, to: 'RUNNING', reason: undefined, at: now })
      : []),
    ...(input.alongside?.(withInput(execution, input, ask, now)) ?? []),
  ];
};
