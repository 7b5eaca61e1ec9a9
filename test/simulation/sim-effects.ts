/** The effect function of a simulated run: at least once, retried by visibility, struck by the same faults as the steps. */
import { childFloor, childOutlet } from '../../lib/effect/child-effects.ts';
import { deliverEffect, type EffectDeps, retrySeconds } from '../../lib/effect/deliver.ts';
import type { EffectMessage } from '../../lib/effect/effect.ts';
import type { ExecutionDeps, UpperFloors } from '../../lib/execution/step/deps.ts';
import type { Queue } from '../../lib/kernel/ports.ts';
import type { Injector, Process } from './faults.ts';
import { type Received, SimQueue } from './sim-queue.ts';
import type { World } from './world.ts';

export interface EffectPorts {
  readonly world: World;
  readonly newProcess: (name: string) => Process;
  /** Ports of one delivery. */
  readonly deps: (process: Process) => ExecutionDeps;
  readonly injector: Injector;
  readonly note: (error: unknown) => void;
}

export class SimEffects {
  readonly queue: SimQueue<EffectMessage>;
  readonly #ports: EffectPorts;

  constructor(ports: EffectPorts) {
    this.#ports = ports;
    this.queue = new SimQueue<EffectMessage>(ports.world, {
      name: 'effect',
      visibilitySeconds: 360,
      maxReceiveCount: 20,
      deliver: (received) => this.#deliver(received),
      dead: () => undefined,
    });
  }

  /** The queue as one process reaches it. */
  port(process: Process, injector: Injector): Queue<EffectMessage> {
    return {
      send: (message, { delaySeconds }) =>
        injector.call(process, 'send effect', async () => this.queue.send(message, delaySeconds)),
      changeVisibility: (handle, seconds) =>
        injector.call(process, 'visibility effect', async () => this.queue.changeVisibility(handle, seconds)),
    };
  }

  floor(process: Process, injector: Injector): UpperFloors {
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    return childFloor({ effects: this.port(process, injector), log });
  }

  #deliver(received: Received<EffectMessage>): void {
    const { newProcess, deps, injector, note } = this.#ports;
    const process = newProcess(received.messageId);
    const effects = this.port(process, injector);
    const ports: EffectDeps = {
      ...deps(process),
      effects,
      outlets: {
        bus: async () => undefined,
        webhook: async () => undefined,
        child: childOutlet(() => deps(process)),
        ticket: async () => undefined,
      },
    };
    deliverEffect(ports, received.body)
      .then(() => {
        if (process.alive) this.queue.delete(received.messageId);
      })
      .catch(async (error: unknown) => {
        note(error);
        await effects.changeVisibility(received.receiptHandle, retrySeconds(received.receiveCount)).catch(note);
      });
  }
}
