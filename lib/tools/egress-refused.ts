/**
 * An address may not be reached. Part of the `GuardedFetch` port, so that tools can tell it from a network error.
 * The message is a sentence for a model or a user; it names the address and the reason, never what a resolver said.
 */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
}
