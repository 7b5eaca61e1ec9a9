import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { QueueAttributes } from './queue-attributes.ts';

export interface Queue {
  readonly name: string;
  readonly attributes: QueueAttributes;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly modified: number;
}

/** A message as stored. Times in milliseconds since the epoch. */
export interface StoredMessage {
  readonly id: number;
  readonly messageId: string;
  readonly queue: string;
  readonly body: string;
  /** JSON of `MessageAttributes`. */
  readonly attributes: string;
  /** JSON of the system attributes that the sender gave (`MessageGroupId`, `AWSTraceHeader`). */
  readonly system: string;
  readonly sentAt: number;
  readonly received: number;
  readonly firstReceivedAt: number | null;
  readonly deadLetterSource: string | null;
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS queues (
  name TEXT PRIMARY KEY, attributes TEXT NOT NULL, created INTEGER NOT NULL, modified INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, messageId TEXT NOT NULL, queue TEXT NOT NULL, body TEXT NOT NULL,
  attributes TEXT NOT NULL, system TEXT NOT NULL, sentAt INTEGER NOT NULL, visibleAt INTEGER NOT NULL,
  received INTEGER NOT NULL DEFAULT 0, firstReceivedAt INTEGER, lastReceivedAt INTEGER, receipt TEXT,
  deadLetterSource TEXT
);
CREATE INDEX IF NOT EXISTS messagesByTime ON messages (queue, visibleAt, id);
CREATE INDEX IF NOT EXISTS messagesByAge ON messages (queue, sentAt);
CREATE INDEX IF NOT EXISTS messagesByReceipt ON messages (receipt) WHERE receipt IS NOT NULL;
`;

const SQL = {
  queue: 'SELECT name, attributes, created, modified FROM queues WHERE name = ?',
  queues: 'SELECT name FROM queues WHERE name >= ? ORDER BY name',
  saveQueue:
    'INSERT INTO queues (name, attributes, created, modified) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET attributes = excluded.attributes, modified = excluded.modified',
  dropQueue: 'DELETE FROM queues WHERE name = ?',
  purge: 'DELETE FROM messages WHERE queue = ?',
  insert:
    'INSERT INTO messages (messageId, queue, body, attributes, system, sentAt, visibleAt) VALUES (?, ?, ?, ?, ?, ?, ?)',
  visible: 'SELECT * FROM messages WHERE queue = ? AND visibleAt <= ? ORDER BY visibleAt, id LIMIT ?',
  take: 'UPDATE messages SET receipt = ?, visibleAt = ?, received = received + 1, lastReceivedAt = ?, firstReceivedAt = coalesce(firstReceivedAt, ?) WHERE id = ?',
  bury: 'UPDATE messages SET queue = ?, visibleAt = ?, receipt = NULL, lastReceivedAt = NULL, deadLetterSource = ? WHERE id = ?',
  delete: 'DELETE FROM messages WHERE queue = ? AND receipt = ?',
  inFlight: 'SELECT lastReceivedAt FROM messages WHERE queue = ? AND receipt = ? AND visibleAt > ?',
  setVisible: 'UPDATE messages SET visibleAt = ? WHERE queue = ? AND receipt = ?',
  expire: 'DELETE FROM messages WHERE queue = ? AND sentAt <= ?',
  next: 'SELECT min(visibleAt) AS at FROM messages WHERE queue = ?',
  counts:
    'SELECT count(*) FILTER (WHERE visibleAt <= ?1) AS visible, count(*) FILTER (WHERE visibleAt > ?1 AND receipt IS NOT NULL) AS inFlight, count(*) FILTER (WHERE visibleAt > ?1 AND receipt IS NULL) AS delayed FROM messages WHERE queue = ?2',
} as const;

/** Queues and messages in one SQLite file. Every method is synchronous and atomic; what it wrote survives `kill -9`. */
export class QueueStore {
  private readonly db: DatabaseSync;
  private readonly sql: { readonly [name in keyof typeof SQL]: StatementSync };
  private readonly cache = new Map<string, Queue>();

  /** @param file path of the database, or `:memory:` */
  constructor(file: string) {
    this.db = new DatabaseSync(file);
    // WAL with NORMAL: a commit is in the operating system's hands, so it outlives the process (not a power cut).
    this.db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    this.db.exec(SCHEMA);
    const prepared = Object.entries(SQL).map(([name, text]) => [name, this.db.prepare(text)]);
    this.sql = Object.fromEntries(prepared) as { [name in keyof typeof SQL]: StatementSync };
  }

  /** Runs `work` as one transaction. */
  atomically<T>(work: () => T): T {
    this.db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.db.exec('COMMIT');
      return result;
    } catch (error) {
      this.db.exec('ROLLBACK');
      throw error;
    }
  }

  queue(name: string): Queue | undefined {
    const cached = this.cache.get(name);
    if (cached !== undefined) return cached;
    const row = this.sql.queue.get(name);
    if (row === undefined) return undefined;
    const queue: Queue = {
      name,
      attributes: JSON.parse(String(row.attributes)),
      created: Number(row.created),
      modified: Number(row.modified),
    };
    this.cache.set(name, queue);
    return queue;
  }

  queueNames(prefix: string): string[] {
    return this.sql.queues
      .all(prefix)
      .map((row) => String(row.name))
      .filter((name) => name.startsWith(prefix));
  }

  saveQueue({ name, attributes, created, modified }: Queue): void {
    this.cache.delete(name);
    this.sql.saveQueue.run(name, JSON.stringify(attributes), created, modified);
  }

  dropQueue(name: string): void {
    this.cache.delete(name);
    this.atomically(() => {
      this.sql.purge.run(name);
      this.sql.dropQueue.run(name);
    });
  }

  purge(name: string): void {
    this.sql.purge.run(name);
  }

  insert(
    message: Pick<StoredMessage, 'messageId' | 'queue' | 'body' | 'attributes' | 'system' | 'sentAt'>,
    visibleAt: number,
  ): void {
    const { messageId, queue, body, attributes, system, sentAt } = message;
    this.sql.insert.run(messageId, queue, body, attributes, system, sentAt, visibleAt);
  }

  /** Messages that may be received now, longest visible first. */
  visible(queue: string, now: number, limit: number): StoredMessage[] {
    return this.sql.visible.all(queue, now, limit) as unknown as StoredMessage[];
  }

  take(id: number, receipt: string, visibleAt: number, now: number): void {
    this.sql.take.run(receipt, visibleAt, now, now, id);
  }

  /** Moves a message to a dead-letter queue; its age and its receive count go with it. */
  bury(id: number, queue: string, now: number, sourceArn: string): void {
    this.sql.bury.run(queue, now, sourceArn, id);
  }

  delete(queue: string, receipt: string): void {
    this.sql.delete.run(queue, receipt);
  }

  /** When the message behind a receipt was last received; `undefined` when it is not in flight. */
  receivedAt(queue: string, receipt: string, now: number): number | undefined {
    const row = this.sql.inFlight.get(queue, receipt, now);
    return row === undefined ? undefined : Number(row.lastReceivedAt);
  }

  setVisible(queue: string, receipt: string, at: number): void {
    this.sql.setVisible.run(at, queue, receipt);
  }

  /** Drops messages sent at or before `before`. */
  expire(queue: string, before: number): void {
    this.sql.expire.run(queue, before);
  }

  /** When the next message of a queue is or becomes visible. */
  nextVisibleAt(queue: string): number | undefined {
    const at = this.sql.next.get(queue)?.at;
    return typeof at === 'number' ? at : undefined;
  }

  counts(queue: string, now: number): { visible: number; inFlight: number; delayed: number } {
    const row = this.sql.counts.get(now, queue) ?? {};
    return { visible: Number(row.visible), inFlight: Number(row.inFlight), delayed: Number(row.delayed) };
  }

  close(): void {
    this.db.close();
  }
}
