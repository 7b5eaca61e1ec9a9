import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawDelivery } from '../../../lib/router/channel.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/github');

interface Sample {
  readonly headers: { readonly [name: string]: string };
  readonly rawBody: string;
  readonly secret: string;
}

/** A delivery as it was recorded, with the secret that signed it. */
export const sample = (name: string): { readonly raw: RawDelivery; readonly secret: string } => {
  const { headers, rawBody, secret } = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Sample;
  return { raw: { headers, body: Buffer.from(rawBody) }, secret };
};
