import type { World } from './world.ts';

/** What can go wrong at a port call, and what people and clocks can do in the middle of one. */
export const FAULTS = [
  'crash_before',
  'crash_after',
  'lost_response',
  'retried',
  'throttle',
  'slow',
  'lease_expiry',
  'freeze_after',
  'duplicate',
  'pause',
  'resume',
  'terminate',
  'input',
  'sweep',
  'pause_and_resume',
  'resume_twice',
  'clock_ahead',
  'clock_behind',
  'clock_far_ahead',
  'clock_far_behind',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Faults that cost a step an attempt. */
export const DISRUPTIVE: ReadonlySet<Fault> = new Set([
  'crash_before',
  'crash_after',
  'lost_response',
  'throttle',
  'lease_expiry',
  'freeze_after',
]);

/** More than two computers whose clocks are kept differ by. */
export const SKEW_MS = 2_000;
/** More than half a lease: two such clocks, one each way, lie a whole lease apart. */
export const FAR_SKEW_MS = 18_000;

/** No clock of a run is further behind or ahead of the true time than this, ms, however often it jumps. */
export type ClockRange = readonly [from: number, to: number];

/** How far the clock of the process jumps while a call is under way; it stays there. */
const JUMPS: { readonly [fault in Fault]?: number } = {
  clock_ahead: SKEW_MS,
  clock_behind: -SKEW_MS,
  clock_far_ahead: FAR_SKEW_MS,
  clock_far_behind: -FAR_SKEW_MS,
};

/** Which fault strikes at which port call of the step processes; calls are counted over the whole run. */
export type Plan = ReadonlyMap<number, Fault>;

/** The platform failed: throttled beyond the client's patience, or an answer that never came. */
export class PortFailure extends Error {
  override readonly name = 'PortFailure';
}

/** Stands before the names of the calls that the consumer of the dead letters makes. */
export const DEAD_LETTER = 'dead letter';

/** One running invocation. A dead one does nothing more, not even its `finally`. */
export class Process {
  alive = true;
  /** Stopped by the machine, not dead: until then none of its calls goes out, its heartbeat's neither. */
  frozenUntil = 0;
  /** When its claim was applied; asks after that must not buy what is stored. */
  claimedAt: number | undefined;
  /** The name it put into the lease. */
  owner: string | undefined;
  readonly messageId: string;
  /** How far its clock is ahead of the true time, ms; negative when it is behind. */
  skewMs: number;
  /** The most that it ever was. */
  aheadMs: number;

  readonly #range: ClockRange;

  constructor(messageId: string, skewMs = 0, range: ClockRange = [-Infinity, Infinity]) {
    this.messageId = messageId;
    this.skewMs = skewMs;
    this.aheadMs = skewMs;
    this.#range = range;
  }

  jump(ms: number): void {
    const [from, to] = this.#range;
    this.skewMs = Math.min(to, Math.max(from, this.skewMs + ms));
    this.aheadMs = Math.max(this.aheadMs, this.skewMs);
  }
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

export interface FaultHooks {
  /** Something outside acts in the middle of a call. */
  outside(fault: Fault, process: Process): void;
}

/** Wraps single port calls of a process: latency, death, lost answers. */
export class Injector {
  calls = 0;
  readonly names: string[] = [];
  readonly struck: { readonly call: number; readonly name: string; readonly fault: Fault }[] = [];
  readonly #world: World;
  readonly #faultAt: (call: number, name: string) => Fault | undefined;
  readonly #hooks: FaultHooks;
  readonly #freezeMs: readonly [from: number, to: number];

  /** @param freezeMs how long a frozen process stands: long enough for the lease to end and for the message to come back */
  constructor(
    world: World,
    faultAt: (call: number, name: string) => Fault | undefined,
    hooks: FaultHooks,
    freezeMs: readonly [from: number, to: number] = [29_500, 32_500],
  ) {
    this.#freezeMs = freezeMs;
    this.#world = world;
    this.#faultAt = faultAt;
    this.#hooks = hooks;
  }

  async call<T>(process: Process, name: string, apply: () => Promise<T>): Promise<T> {
    if (!process.alive) return never();
    const number = this.calls++;
    const shown = process.messageId === DEAD_LETTER ? `${DEAD_LETTER} ${name}` : name;
    this.names[number] = shown;
    const fault = this.#faultAt(number, shown);
    if (fault !== undefined) {
      this.struck.push({ call: number, name: shown, fault });
      process.jump(JUMPS[fault] ?? 0);
    }
    await this.#world.sleep(1 + this.#world.random() * 8);
    if (!process.alive) return never();
    if (fault === 'crash_before') return this.#die(process);
    if (fault === 'throttle') throw new PortFailure(`${name} was throttled.`);
    if (fault === 'slow') await this.#world.sleep(400 + this.#world.random() * 3_000);
    // What goes on afterwards is a zombie.
    if (fault === 'lease_expiry') this.#freeze(process);
    // A request to the outside world that is on its way arrives, whatever becomes of its sender.
    const outside = name === 'model' || name.startsWith('tool ');
    if (!outside) await this.#thaw(process);
    if (!process.alive) return never();
    if (fault !== undefined) this.#hooks.outside(fault, process);
    let result: T;
    try {
      result = await apply();
      // The client did not hear the answer and sent the request again.
      if (fault === 'retried' && !outside) result = await apply();
      await this.#thaw(process);
    } catch (error) {
      if (!process.alive || fault === 'crash_after') return this.#die(process);
      throw error;
    }
    if (fault === 'crash_after') return this.#die(process);
    if (fault === 'freeze_after') {
      this.#freeze(process);
      await this.#thaw(process);
    }
    if (fault === 'lost_response') throw new PortFailure(`The answer of ${name} was lost.`);
    await this.#world.sleep(1 + this.#world.random() * 8);
    return process.alive ? result : never();
  }

  #freeze(process: Process): void {
    const { now, random } = this.#world;
    const [from, to] = this.#freezeMs;
    process.frozenUntil = now + Math.round(from + random() * (to - from));
  }

  async #thaw(process: Process): Promise<void> {
    while (this.#world.now < process.frozenUntil) await this.#world.sleep(process.frozenUntil - this.#world.now);
  }

  #die<T>(process: Process): Promise<T> {
    process.alive = false;
    return never();
  }
}
