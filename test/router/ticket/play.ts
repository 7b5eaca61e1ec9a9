import { AppError } from '../../../lib/kernel/errors.ts';
import type { Item } from '../../../lib/kernel/table.ts';
import { answerTicket, retryTicket } from '../../../lib/router/ticket/people.ts';
import { stopTicket } from '../../../lib/router/ticket/stop.ts';
import { seeded } from '../../simulation/world.ts';
import { ORG, STRANGER, said } from '../support/team.ts';
import { trespassesOf, violationsOf } from './checks.ts';
import { makeShop, newest, type Worker } from './shop.ts';

const worker: Worker = (request, { turn }) => {
  const words = newest(request).split('\n').at(-1) ?? '';
  if (turn % 7 === 3) return [['think', { thought: `${turn}` }]];
  if (/drop/.test(words)) return [['report', { state: 'dropped', text: 'Nothing left.' }]];
  if (/finish/.test(words)) return [['finish', { result: 'Done.' }]];
  if (turn % 5 === 0) return [['report', { state: 'blocked', text: 'No access.' }]];
  return [
    ['reply', { content: words }],
    ['report', { state: 'waiting', on: turn % 2 === 0 ? 'person' : 'event', text: 'So far.' }],
  ];
};

const WORDS = ['more', 'drop it', 'finish it', 'and more'];

/** Seeds that are played. */
export const SEEDS = 60;

/** Several tickets in three Threads, people and strangers, stops, retries and a policy, all at the same time. */
export const play = async (seed: number): Promise<string[]> => {
  const random = seeded(seed);
  const maxWorkers = 1 + (seed % 2);
  const trespasses = new Set<string>();
  const watch = (rows: readonly Item[]): void => {
    for (const one of trespassesOf(rows, maxWorkers)) trespasses.add(one);
  };
  const shop = await makeShop(worker, { policy: { maxWorkers }, random, watch });
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const failures: string[] = [];
  const quietly = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // A refusal is an answer.
      if (!(error instanceof AppError)) failures.push(error instanceof Error ? (error.stack ?? '') : String(error));
    }
  };
  let number = 0;
  const issues = [1, 2, 3];
  for (const issue of issues) await quietly(async () => shop.accept(await shop.hear(said('@baton go', { issue }))));
  const acts = [
    () => shop.hear(said(pick(WORDS), { issue: pick(issues) })),
    () => shop.hear(said(pick(WORDS), { issue: pick(issues), actor: STRANGER })),
    () => stopTicket(shop.deps, { orgId: ORG, ticketId: pick(shop.tickets()).id }, { by: 'key k', at: 0 }),
    () => {
      const at = { orgId: ORG, ticketId: pick(shop.tickets()).id };
      return retryTicket(shop.deps, at, { actor: 'k', key: `${number++}` });
    },
    () => {
      const at = { orgId: ORG, ticketId: pick(shop.tickets()).id };
      return answerTicket(shop.deps, at, pick(WORDS), { actor: 'k', key: `${number++}` });
    },
  ];
  for (let round = 0; round < 25; round++) {
    const moves = shop.queues.steps.take().map(
      ({ message }) =>
        () =>
          shop.step(message),
    );
    const signals = shop.queues.effects.take().map(
      ({ message }) =>
        () =>
          shop.effect(message),
    );
    const twice = random() < 0.3 ? signals : [];
    const people = random() < 0.7 ? [pick(acts.filter((_, index) => index !== 2 || random() < 0.3))] : [];
    await Promise.all([...moves, ...signals, ...twice, ...people].map(quietly));
    await shop.clock.advance(2_000);
  }
  await shop.drain();
  await shop.heal();
  return [...failures, ...trespasses, ...(await violationsOf(shop))];
};
