import { DeleteParameterCommand, GetParameterCommand, PutParameterCommand, type SSMClient } from '@aws-sdk/client-ssm';
import type { Secrets } from '../kernel/ports.ts';

/** A standard parameter holds 4 KB; larger ones are charged for. */
const MAX_BYTES = 4096;
const NAME = /^[A-Za-z0-9_.\-/]+$/;

/**
 * The secrets port over SSM Parameter Store, as SecureStrings under the account's own key. Each read is a request, and
 * 40 a second are allowed by default: put `cachedSecrets` before it.
 * @param options.prefix stands before every name, with one slash between; empty for full names
 */
export const makeSecrets = (options: { readonly client: SSMClient; readonly prefix: string }): Secrets => {
  const { client, prefix } = options;
  const full = (name: string): string => {
    const path = prefix === '' || prefix.endsWith('/') ? `${prefix}${name}` : `${prefix}/${name}`;
    if (name === '' || !NAME.test(path)) {
      throw new TypeError(`The name of a secret has ${name.length} characters; expected letters, digits and _ . - /`);
    }
    return path;
  };
  return {
    async get(name) {
      try {
        const { Parameter } = await client.send(new GetParameterCommand({ Name: full(name), WithDecryption: true }));
        return Parameter?.Value;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    /** @throws TypeError for a value that is empty or above 4,096 bytes. The message never holds the value. */
    async put(name, value) {
      const bytes = Buffer.byteLength(value);
      if (bytes === 0 || bytes > MAX_BYTES) {
        throw new TypeError(`The secret ${name} has ${bytes} bytes; expected 1 to ${MAX_BYTES}.`);
      }
      await client.send(
        new PutParameterCommand({ Name: full(name), Value: value, Type: 'SecureString', Overwrite: true }),
      );
    },
    /** Deleting what is not there is fine: a repeat after a lost response must not fail. */
    async delete(name) {
      try {
        await client.send(new DeleteParameterCommand({ Name: full(name) }));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
};

const isMissing = (error: unknown): boolean => error instanceof Error && error.name === 'ParameterNotFound';
