/**
 * What a key may do. A ladder: each scope includes those before it.
 * `read` looks, `run` starts and steers executions and decides permissions, `write` changes agents and projects,
 * `admin` manages keys, model accounts and the stop of the whole organisation.
 */
export const SCOPES = ['read', 'run', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export const allows = (held: readonly Scope[], needed: Scope): boolean =>
  held.some((scope) => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed));
