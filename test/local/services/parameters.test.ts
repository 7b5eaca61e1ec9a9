import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  DeleteParameterCommand,
  DescribeParametersCommand,
  GetParameterCommand,
  GetParametersCommand,
  PutParameterCommand,
  type PutParameterCommandInput,
} from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createParameters } from '../../../local/services/parameters.ts';
import { ARN, type Clients, type Cloud, errorOf, startCloud } from '../gateway/cloud.ts';

let cloud: Cloud;
let ssm: Clients['ssm'];
beforeAll(async () => {
  cloud = await startCloud();
  ({ ssm } = cloud.clients());
});
afterAll(() => cloud.remove());

const put = (input: PutParameterCommandInput) => ssm.send(new PutParameterCommand(input));
const get = (Name: string, WithDecryption = true) => ssm.send(new GetParameterCommand({ Name, WithDecryption }));

describe('parameters', () => {
  it('a secret is shown to those who ask for it decrypted', async () => {
    expect((await put({ Name: '/app/secret', Value: 'geheim', Type: 'SecureString' })).Version).toBe(1);
    const { Parameter } = await get('/app/secret');
    expect(Parameter).toMatchObject({
      Value: 'geheim',
      Type: 'SecureString',
      Version: 1,
      ARN: `${ARN.parameters}/secret`,
    });
    const sealed = await get('/app/secret', false);
    expect(sealed.Parameter?.Value).not.toContain('geheim');
  });

  it('are overwritten only when told', async () => {
    await put({ Name: 'plain', Value: 'one', Type: 'String' });
    expect((await errorOf(put({ Name: 'plain', Value: 'two', Type: 'String' }))).name).toBe('ParameterAlreadyExists');
    expect((await put({ Name: 'plain', Value: 'two', Overwrite: true })).Version).toBe(2);
    expect((await get('plain')).Parameter?.Value).toBe('two');
    const other = put({ Name: 'plain', Value: 'x', Type: 'SecureString', Overwrite: true });
    expect((await errorOf(other)).name).toBe('HierarchyTypeMismatchException');
  });

  it('a list answers what is there and names what is not', async () => {
    const { Parameters, InvalidParameters } = await ssm.send(new GetParametersCommand({ Names: ['plain', 'nope'] }));
    expect([Parameters?.map(({ Name }) => Name), InvalidParameters]).toEqual([['plain'], ['nope']]);
    expect((await errorOf(ssm.send(new GetParametersCommand({ Names: [] })))).name).toBe('ValidationException');
  });

  it('are deleted', async () => {
    await put({ Name: '/app/gone', Value: 'x', Type: 'String' });
    await ssm.send(new DeleteParameterCommand({ Name: '/app/gone' }));
    expect((await errorOf(get('/app/gone'))).name).toBe('ParameterNotFound');
    const again = ssm.send(new DeleteParameterCommand({ Name: '/app/gone' }));
    expect((await errorOf(again)).name).toBe('ParameterNotFound');
  });

  it.each<[string, PutParameterCommandInput, RegExp]>([
    ['an empty value', { Name: 'v', Value: '', Type: 'String' }, /greater than or equal to 1/],
    ['a value over 4 KB', { Name: 'v', Value: 'ü'.repeat(2049), Type: 'String' }, /4096/],
    ['no type', { Name: 'v', Value: 'x' }, /SecureString/],
    ['a name with a space', { Name: 'a b', Value: 'x', Type: 'String' }, /"a b"/],
    ['a reserved name', { Name: '/aws/x', Value: 'x', Type: 'String' }, /prefixed with "aws"/],
  ])('refuses %s', async (_name, input, sentence) => {
    const error = await errorOf(put(input));
    expect(error.name).toBe('ValidationException');
    expect(error.message).toMatch(sentence);
  });

  it('an operation that is not there says so', async () => {
    expect((await errorOf(ssm.send(new DescribeParametersCommand({})))).name).toBe('UnknownOperationException');
  });

  it('lie in a file for the owner only, and are there after a new start', async () => {
    const file = join(cloud.home, 'parameters.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = createParameters({ file });
    expect(again.handle('GetParameter', { Name: 'plain' })).toMatchObject({ Parameter: { Value: 'two', Version: 2 } });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty(['/app/secret']);
  });
});
