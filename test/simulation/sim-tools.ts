import * as z from 'zod';
import type { Tool } from '../../lib/tools/tool.ts';
import type { Process } from './faults.ts';
import type { Sim } from './sim-run.ts';

/** One tool of each kind, whose effects the outside world counts by key. */
export const effectTools = (sim: Sim, process: Process): Tool[] => {
  const make = (name: string, effect: 'none' | 'idempotent' | 'unsafe'): Tool => ({
    name,
    description: name,
    schema: ARGUMENTS,
    effect: () => effect,
    // As `http_request`.
    timeoutSeconds: 20,
    execute: ({ what }, context) =>
      sim.injector.call(process, `tool ${name}`, async () => {
        sim.effects.push({ tool: name, key: context.key, at: sim.world.now });
        return { ok: true, text: `${name} done`.padEnd(what === 'a lot' ? 10_000 : 0, '.') };
      }),
  });
  const handIn: Tool = { ...make('hand_in', 'idempotent'), endsTurn: () => 'over' };
  return [make('look', 'none'), make('post', 'idempotent'), make('pay', 'unsafe'), handIn];
};

const ARGUMENTS = z.object({ what: z.string().optional() });
