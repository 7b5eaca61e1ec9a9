import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** In flight, and still for as long as the queue says: no function has touched it since it was received. */
const RETURN = `
UPDATE messages SET visibleAt = :now
WHERE receipt IS NOT NULL AND visibleAt > :now AND visibleAt - lastReceivedAt >= (
  SELECT 1000 * json_extract(attributes, '$.VisibilityTimeout') FROM queues WHERE name = messages.queue
)`;

/**
 * Makes messages visible again that the last local cloud had taken and not yet handed over when it was killed. On AWS the
 * pollers do not die with anyone's terminal; here they do, and the message would stay away for the visibility time-out
 * of its queue, 90 minutes for a step. Messages whose visibility a function has set keep it. Call it before the queues
 * are opened.
 * @param file the queues' SQLite file; it may be missing
 * @returns how many came back
 */
export const returnInFlight = (file: string, now: number): number => {
  if (!existsSync(file)) return 0;
  const database = new DatabaseSync(file);
  try {
    const known = database
      .prepare("SELECT count(*) AS n FROM sqlite_master WHERE name IN ('messages', 'queues')")
      .get();
    return known?.n === 2 ? Number(database.prepare(RETURN).run({ now }).changes) : 0;
  } finally {
    database.close();
  }
};
