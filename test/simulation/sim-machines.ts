/** What the machines of the step function remember from one invocation to the next. */
import { makeRowMemory, type RowMemory } from '../../lib/execution/step/row-memory.ts';
import type { Process } from './faults.ts';

/** As Lambda does it: an invocation gets a machine that stands idle, or a new one; a process that dies takes it along. */
export class Machines {
  readonly #machines: { readonly memory: RowMemory; process: Process }[] = [];

  /** @param busy processes that have not come to their end; dead ones never do */
  memoryFor(process: Process, busy: ReadonlySet<Process>): RowMemory {
    const idle = this.#machines.find((machine) => !busy.has(machine.process));
    if (idle !== undefined) {
      idle.process = process;
      return idle.memory;
    }
    const memory = makeRowMemory();
    this.#machines.push({ memory, process });
    return memory;
  }
}
