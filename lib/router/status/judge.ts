/**
 * How the Router of an organisation stands, as pure rules. 0 well · 1 heals by itself · 2 credentials, settings or something
 * that a person should look at · 3 something that only a person can judge (spec N14).
 */
import { due } from '../../kernel/keys.ts';
import type { Delivery } from '../ingest/delivery.ts';
import { isAtRest, type Posting } from '../outbox/posting.ts';
import type { Source } from '../source/source.ts';
import type { Thread } from '../thread/thread.ts';

export interface Check {
  readonly name: string;
  readonly code: 0 | 1 | 2 | 3;
  readonly detail: string;
}

/** A mark that nobody has come to for so long after its time: the clock looks every minute, or every five. */
const LATE_MS = 600_000;
/** A doubt is settled by two looks a minute apart; one that lasts so long is not. */
const DOUBT_MS = 900_000;

const isLate = ({ dueSk }: { readonly dueSk?: string | undefined }, now: number): boolean =>
  dueSk !== undefined && due.at(dueSk) < now - LATE_MS;

/** The first that is wrong, worst rule first. */
const first = <T extends { readonly id: string }>(
  name: string,
  well: string,
  rules: readonly { readonly code: 1 | 2 | 3; readonly of: readonly T[]; readonly what: string }[],
): Check => {
  const found = rules.toSorted((a, b) => b.code - a.code).find(({ of }) => of.length > 0);
  if (found === undefined) return { name, code: 0, detail: well };
  return { name, code: found.code, detail: `${found.of.length} ${found.what} First: ${found.of[0]?.id}.` };
};

export const sourcesCheck = (sources: readonly Source[], refused: readonly Source[]): Check =>
  first('sources', `${sources.length} sources, all of them served.`, [
    {
      code: 2,
      of: sources.filter(({ state }) => state === 'suspended' || state === 'gone'),
      what: 'sources were stopped by their provider.',
    },
    { code: 2, of: refused, what: 'sources had events without a good signature within the hour.' },
  ]);

export const deliveriesCheck = (deliveries: readonly Delivery[], now: number): Check =>
  first('deliveries', 'No event waits.', [
    {
      code: 1,
      of: deliveries.filter((each) => isLate(each, now)),
      what: 'events stand still; the sweep sends them again.',
    },
    {
      code: 2,
      of: deliveries.filter(({ verdict, receivedAt }) => verdict === 'failed' && receivedAt > now - 86_400_000),
      what: 'events of the last day could not be read.',
    },
  ]);

export const threadsCheck = (threads: readonly Thread[], now: number): Check =>
  first('threads', 'No discussion waits for its judgement.', [
    {
      code: 1,
      of: threads.filter((each) => isLate(each, now)),
      what: 'discussions stand still; the sweep wakes them.',
    },
    {
      code: 2,
      of: threads.filter(({ stuckSince }) => stuckSince !== undefined),
      what: 'discussions cannot be judged.',
    },
  ]);

export const effectsCheck = (postings: readonly Posting[], now: number): Check => {
  const doubtful = ({ state, triedAt, createdAt }: Posting): boolean =>
    state === 'unknown' && (triedAt ?? createdAt) < now - DOUBT_MS;
  return first('effects', 'Nothing waits to be said.', [
    {
      code: 1,
      of: postings.filter((each) => !isAtRest(each) && isLate(each, now)),
      what: 'effects stand still; the clock wakes them.',
    },
    { code: 2, of: postings.filter(({ state }) => state === 'held'), what: 'effects are held.' },
    {
      code: 2,
      of: postings.filter(({ state, attentionAt }) => state === 'dead' && attentionAt !== undefined),
      what: 'effects could not be delivered.',
    },
    { code: 3, of: postings.filter(doubtful), what: 'effects may be out or not, and looking does not tell.' },
  ]);
};
