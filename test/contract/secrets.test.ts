import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cachedSecrets } from '../../lib/aws/cached.ts';
import { makeSecrets } from '../../lib/aws/secrets.ts';
import type { Secrets } from '../../lib/kernel/ports.ts';
import { AwsError } from '../../local/gateway/aws-error.ts';
import { createParameters } from '../../local/services/parameters.ts';
import { makeFakeClock } from '../support/fake-clock.ts';
import { type JsonWire, LOCAL_ACCESS, startJsonWire } from '../support/json-wire.ts';
import { makeMemorySecrets } from '../support/memory-secrets.ts';
import { secretsContract } from './secrets.contract.ts';

describe('the secrets in memory', () => {
  const secrets = makeMemorySecrets();
  secretsContract(() => secrets);
});

describe('the secrets behind a cache', () => {
  const secrets = cachedSecrets(makeMemorySecrets(), makeFakeClock());
  secretsContract(() => secrets);
});

describe('the secrets in Parameter Store, over the wire', () => {
  let folder: string;
  let wire: JsonWire;
  let client: SSMClient;
  let secrets: Secrets;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'secrets-'));
    const parameters = createParameters({ file: join(folder, 'parameters.json') });
    wire = await startJsonWire((operation, input) => {
      try {
        return { status: 200, body: parameters.handle(operation, input) };
      } catch (error) {
        if (!(error instanceof AwsError)) throw error;
        return { status: 400, body: { __type: error.code, message: error.message } };
      }
    });
    client = new SSMClient({ ...LOCAL_ACCESS, endpoint: wire.url });
    secrets = makeSecrets({ client, prefix: '/baton-test/keys' });
  });
  afterAll(async () => {
    client.destroy();
    await wire.close();
    rmSync(folder, { recursive: true });
  });

  secretsContract(() => secrets);

  it('keeps them as SecureStrings under the prefix', async () => {
    await secrets.put('org_1/kind', 'value');
    const { Parameter } = await client.send(new GetParameterCommand({ Name: '/baton-test/keys/org_1/kind' }));
    expect(Parameter?.Type).toBe('SecureString');
    expect(Parameter?.Value).not.toContain('value'); // not decrypted, as nobody asked for it
  });

  it('takes full names when it has no prefix', async () => {
    await secrets.put('org_1/full', 'value');
    expect(await makeSecrets({ client, prefix: '' }).get('/baton-test/keys/org_1/full')).toBe('value');
  });
});
