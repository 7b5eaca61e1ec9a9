export type Problem =
  | 'missing'
  | 'incomplete'
  | 'unknownKey'
  | 'badSignature'
  | 'skewed'
  | 'expired'
  | 'wrongScope'
  | 'unsignedHeaders'
  | 'payloadHash';

/** Why a signature was not believed. The gateway turns it into the service's own error. */
export class AuthenticationError extends Error {
  override readonly name = 'AuthenticationError';
  readonly problem: Problem;
  constructor(problem: Problem, message: string) {
    super(message);
    this.problem = problem;
  }
}
