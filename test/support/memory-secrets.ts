import type { Secrets } from '../../lib/kernel/ports.ts';

export interface MemorySecrets extends Secrets {
  /** How often a secret was really read; a cache in front of it keeps this low. */
  reads(): number;
}

export const makeMemorySecrets = (initial: { readonly [name: string]: string } = {}): MemorySecrets => {
  const values = new Map(Object.entries(initial));
  let reads = 0;
  return {
    async get(name) {
      reads += 1;
      return values.get(name);
    },
    async put(name, value) {
      if (value === '') throw new RangeError(`The secret ${name} is empty.`);
      values.set(name, value);
    },
    async delete(name) {
      values.delete(name);
    },
    reads: () => reads,
  };
};
