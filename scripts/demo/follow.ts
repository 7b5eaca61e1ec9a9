import type { Api, Execution, FeedRow } from './api.ts';
import { oneLine, type Screen } from './terminal.ts';

/** Seconds of one long poll: short enough that the end of the run shows at once. */
const WAIT_SECONDS = 5;
const WIDTH = 100;

/** Files the job makes and the finish after them; a real model may make fewer, and is shown as far as it is. */
const MILESTONES = 7;

/** One row of the feed as a line; a tool's answer stands below its call. */
export const rowLine = (row: FeedRow): string => {
  const place = `  step ${String(row.seq).padStart(2)}  `;
  if (row.role === 'tool') return `${place}    -> ${oneLine(row.content, WIDTH)}`;
  const calls = (row.toolCalls ?? []).map(({ name, arguments: given }) => `${name}(${argumentsLine(given)})`);
  const said = [oneLine(row.content, WIDTH), ...calls].filter((part) => part !== '');
  return `${place}${row.role}: ${said.join(' | ')}`;
};

/** The values alone: their names say little to a reader. */
const argumentsLine = (text: string): string => {
  try {
    const values = Object.values(JSON.parse(text) as object);
    return values.map((value) => oneLine(typeof value === 'string' ? value : JSON.stringify(value), 40)).join(', ');
  } catch {
    return oneLine(text, 60); // A model may write what is no JSON; the engine tells it so.
  }
};

const filesWritten = (rows: readonly FeedRow[]): number => {
  const paths = rows.flatMap((row) =>
    row.role === 'tool' ? (/^(?:Wrote|Added) .* to (\S+)\.$/.exec(row.content)?.[1] ?? []) : [],
  );
  return new Set(paths).size;
};

/** Prints the feed of a run as it grows, by long polls, until the run does not run any more. */
export const followRun = async (
  { api, screen }: { readonly api: Api; readonly screen: Screen },
  executionId: string,
  seen: (execution: Execution) => void,
): Promise<Execution> => {
  const rows: FeedRow[] = [];
  let after: string | undefined;
  for (;;) {
    // Read before the feed: whatever the run had said when it ended is then in the page that follows.
    const before = await api.execution(executionId);
    const ended = before.status !== 'RUNNING';
    const page = await api.feed(executionId, after, ended ? 0 : WAIT_SECONDS);
    for (const row of page.items) screen.line(rowLine(row));
    rows.push(...page.items);
    after = page.nextCursor;
    if (ended && page.items.length === 0) return before;
    const now = page.items.length === 0 ? before : await api.execution(executionId);
    seen(now);
    const done = now.status === 'COMPLETED' ? 1 : Math.min(filesWritten(rows), MILESTONES - 1) / MILESTONES;
    screen.progress(done, `${now.calls} calls, ${now.tokens.total} tokens, $${now.costUsd.toFixed(4)}`);
  }
};
