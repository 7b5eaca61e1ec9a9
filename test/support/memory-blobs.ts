import type { Blobs } from '../../lib/kernel/ports.ts';

export interface MemoryBlobs extends Blobs {
  keys(): string[];
  contentType(key: string): string | undefined;
}

/** Objects in a map. Bodies are copied on the way in and out, as over a wire. */
export const makeMemoryBlobs = (): MemoryBlobs => {
  const objects = new Map<string, { readonly body: Uint8Array; readonly contentType: string }>();
  return {
    async put(key, body, contentType) {
      if (key === '') throw new RangeError('The key of an object is empty.');
      objects.set(key, { body: body.slice(), contentType });
    },
    async get(key) {
      return objects.get(key)?.body.slice();
    },
    keys: () => [...objects.keys()].sort(),
    contentType: (key) => objects.get(key)?.contentType,
  };
};
