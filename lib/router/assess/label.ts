import { createHash } from 'node:crypto';

const PLAIN = /^[\w.:@+/*-]{1,100}$/u;

/** A name that others chose (an actor's id, a scope) where it stands outside of a frame: harmless characters, or a hash. */
export const label = (name: string): string =>
  PLAIN.test(name) ? name : `sha256:${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
