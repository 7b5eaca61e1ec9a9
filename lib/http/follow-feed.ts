import type { Clock } from '../kernel/ports.ts';
import type { ExecutionAt, ExecutionService, FeedPage, FeedPosition } from './execution-service.ts';
import { decodeCursor, encodeCursor, invalid } from './paging.ts';

/** Between two looks of a long poll: soon enough to feel live, and at most some 70 reads in 20 s. */
const LOOK_AGAIN_MS = 300;
/** Kept back for the answer itself. */
const MARGIN_MS = 1_500;

interface Follow {
  readonly after: FeedPosition | undefined;
  readonly limit: number;
  readonly waitMs: number;
  readonly remainingMs: () => number;
}

/** Looks until there are rows, the execution has ended, or the time is over: the reader's or the function's. */
export const followFeed = async (
  deps: { readonly executions: ExecutionService; readonly clock: Clock },
  at: ExecutionAt,
  { after, limit, waitMs, remainingMs }: Follow,
): Promise<FeedPage> => {
  const until = deps.clock.now() + Math.min(waitMs, remainingMs() - MARGIN_MS);
  for (;;) {
    const page = await deps.executions.feed(at, { after, limit });
    const left = until - deps.clock.now();
    if (page.items.length > 0 || page.ended || left <= 0) return page;
    await deps.clock.sleep(Math.min(LOOK_AGAIN_MS, left));
  }
};

const listOfFeed = (executionId: string): string => `feed/${executionId}`;
const POSITION = /^(\d{1,9})\.(\d{1,4})$/;
const BEGINNING = '';

/** There is always one, so that a reader can follow: after the last row shown, else where the reader stood. */
export const feedCursor = (
  at: ExecutionAt,
  after: FeedPosition | undefined,
  items: readonly { readonly seq: number; readonly n: number }[],
): string => {
  const last = items.at(-1) ?? after;
  return encodeCursor(at.orgId, listOfFeed(at.executionId), last === undefined ? BEGINNING : `${last.seq}.${last.n}`);
};

/** @throws AppError 400 `invalid_cursor` naming `after` */
export const feedPosition = (at: ExecutionAt, after: string | undefined): FeedPosition | undefined => {
  if (after === undefined || after === '') return undefined;
  const position = decodeCursor(at.orgId, listOfFeed(at.executionId), after, 'after');
  if (position === BEGINNING) return undefined;
  const match = POSITION.exec(position);
  if (match === null) throw invalid('after', after, 'a nextCursor of this feed');
  return { seq: Number(match[1]), n: Number(match[2]) };
};
