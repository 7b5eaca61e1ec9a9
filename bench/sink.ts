import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ownerOfPort, pidsOf } from './processes.ts';

/** One request that reached the sink. */
export interface Effect {
  /** `<run>/<step>`: what the model wanted done once. */
  readonly effect: string;
  readonly key: string;
  readonly at: number;
}

export interface Kill {
  readonly effect: string;
  /** Milliseconds from the answer to the effect to the kill, as it came out. */
  readonly afterMs: number;
  readonly at: number;
}

/** A server whose POST is the effect, and which kills the process that sent it. */
export interface Sink {
  /** `host:port` */
  readonly host: string;
  readonly effects: readonly Effect[];
  readonly kills: readonly Kill[];
  /** From now on processes of this home's step function are killed, the first time they do an effect. */
  arm(home: string, delays: (kill: number) => number): void;
  /** Kills made and tried: the process could not be found, or had ended, when its turn came. */
  struckSoFar(): number;
  /** Resolves when there are so many of them, or after so many seconds. */
  struck(count: number, seconds: number): Promise<void>;
  close(): void;
}

const now = (): number => performance.timeOrigin + performance.now();

/** Timers count in milliseconds and come late; a kill that is to fall within six of them is waited for awake. */
const waitAwake = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

const readText = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

export const startSink = async (): Promise<Sink> => {
  const effects: Effect[] = [];
  const kills: Kill[] = [];
  const struck = new Set<string>();
  let missed = 0;
  let armed: { readonly home: string; readonly delays: (kill: number) => number } | undefined;

  /** @returns the process to kill, if this effect is to cost its process */
  const receive = async (
    request: IncomingMessage,
  ): Promise<{ effect: string; pid: number | undefined } | undefined> => {
    const { effect } = JSON.parse(await readText(request)) as { readonly effect: string };
    effects.push({ effect, key: String(request.headers['idempotency-key'] ?? ''), at: now() });
    if (armed === undefined || struck.has(effect)) return undefined;
    struck.add(effect);
    // Looked up before the answer, so that the time of looking is not in the delay.
    return { effect, pid: ownerOfPort(request.socket.remotePort ?? 0, pidsOf(armed.home, 'step')) };
  };

  const strike = ({ effect, pid }: { effect: string; pid: number | undefined }, answered: number): void => {
    if (pid === undefined || armed === undefined) {
      missed++;
      return;
    }
    waitAwake(armed.delays(kills.length));
    try {
      process.kill(pid, 'SIGKILL');
      kills.push({ effect, afterMs: performance.now() - answered, at: now() });
    } catch {
      missed++; // it had ended by itself
    }
  };

  const server = createServer((request, response) => {
    receive(request).then(
      (victim) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}', () => {
          if (victim !== undefined) strike(victim, performance.now());
        }),
      () => response.destroy(),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects,
    kills,
    arm(home, delays) {
      armed = { home, delays };
    },
    struckSoFar: () => kills.length + missed,
    async struck(count, seconds) {
      const until = performance.now() + seconds * 1000;
      while (kills.length + missed < count) {
        if (performance.now() > until) return;
        await new Promise((done) => setTimeout(done, 5));
      }
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
