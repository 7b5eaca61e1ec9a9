/** The local cloud cannot come up. The message is a sentence for the terminal. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
