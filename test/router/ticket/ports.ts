/** Ports that fail where a test says so: a call is never made, or is made and its answer lost; the process is dead then. */
import type { EffectMessage } from '../../../lib/effect/effect.ts';
import type { StepMessage } from '../../../lib/execution/message.ts';
import type { Queue } from '../../../lib/kernel/ports.ts';
import type { Table } from '../../../lib/kernel/table.ts';
import type { PostingMessage } from '../../../lib/router/message.ts';

export class PortFailure extends Error {
  override readonly name = 'PortFailure';
}

/** At which call of all, counted from the start, and whether before or after it is made. */
export interface Strike {
  readonly at: number;
  readonly when: 'before' | 'after';
}

export const makePorts = (
  ports: {
    readonly memory: Table;
    readonly steps: Queue<StepMessage>;
    readonly effects: Queue<EffectMessage>;
    readonly postings: Queue<PostingMessage>;
  },
  strike?: Strike,
  random?: () => number,
  /** Looks at the rows after each call. */
  watch: () => void = () => undefined,
) => {
  let calls = 0;
  let dead = false;
  let armed = true;
  const alive = (): void => {
    if (dead) throw new PortFailure('The process is dead.');
  };
  const call = async <T>(apply: () => Promise<T>): Promise<T> => {
    alive();
    // Others get in between, in an order that the seed says.
    for (let turns = random === undefined ? 0 : Math.floor(random() * 4); turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const hit = armed && strike !== undefined && calls === strike.at;
    calls++;
    if (hit && strike.when === 'before') {
      dead = true;
      alive();
    }
    const result = await apply();
    watch();
    if (hit) {
      dead = true;
      alive();
    }
    return result;
  };
  const queue = <Message>(inner: Queue<Message>): Queue<Message> => ({
    send: (message, options) => call(() => inner.send(message, options)),
    changeVisibility: (handle, seconds) => call(() => inner.changeVisibility(handle, seconds)),
  });
  const { memory } = ports;
  const table: Table = {
    get: (key, options) => call(() => memory.get(key, options)),
    getMany: (keys, options) => call(() => memory.getMany(keys, options)),
    query: (query) => call(() => memory.query(query)),
    put: (item, condition) => call(() => memory.put(item, condition)),
    update: (key, changes, condition) => call(() => memory.update(key, changes, condition)),
    delete: (key, condition) => call(() => memory.delete(key, condition)),
    transact: (writes, token) => call(() => memory.transact(writes, token)),
  };
  return {
    table,
    steps: queue(ports.steps),
    effects: queue(ports.effects),
    postings: queue(ports.postings),
    alive,
    /** A request to somebody outside, which can be cut off like a call of a port. */
    outside: call,
    /** Another process begins. */
    begin: (): void => {
      dead = false;
    },
    disarm: (): void => {
      armed = false;
    },
    calls: (): number => calls,
  };
};
