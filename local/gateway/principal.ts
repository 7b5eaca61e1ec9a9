import type { LocalStatement } from '../template/assembly.ts';

/** Who may call: a key pair and what it may do. */
export interface Principal {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly arn: string;
  /** The role's logical id, `operator` or `service`. */
  readonly name: string;
  readonly statements: readonly LocalStatement[] | 'everything';
}
