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
      checkName(name);
      reads += 1;
      return values.get(name);
    },
    async put(name, value) {
      checkName(name);
      const bytes = Buffer.byteLength(value);
      if (bytes === 0 || bytes > 4096)
        throw new TypeError(`The secret ${name} has ${bytes} bytes; expected 1 to 4096.`);
      values.set(name, value);
    },
    async delete(name) {
      checkName(name);
      values.delete(name);
    },
    reads: () => reads,
  };
};

const checkName = (name: string): void => {
  if (!/^[A-Za-z0-9_.\-/]+$/.test(name)) throw new TypeError('The name of a secret has letters, digits and _ . - /');
};
