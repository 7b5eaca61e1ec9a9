import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppError, UnreadableRow } from '../../lib/kernel/errors.ts';
import { makeLog, type RequestLog } from '../../lib/observe/logger.ts';
import { captureOutput } from '../support/captured-output.ts';

const SECRET = 'the secret words';

describe('the log', () => {
  let output: ReturnType<typeof captureOutput>;
  let log: RequestLog;

  beforeEach(() => {
    vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'baton-test');
    vi.stubEnv('POWERTOOLS_DEV', '');
    vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'DEBUG');
    output = captureOutput();
    log = makeLog();
  });
  afterEach(() => {
    output.restore();
    vi.unstubAllEnvs();
  });

  it('writes one JSON line with level, message, service, time and fields', () => {
    log.info('Step committed.', { executionId: 'exe_1', seq: 7, orgId: 'org_1', status: 'RUNNING', took: 12.5 });
    expect(output.lines).toHaveLength(1);
    expect(output.lines[0]).toMatchObject({
      level: 'INFO',
      message: 'Step committed.',
      service: 'baton-test',
      executionId: 'exe_1',
      seq: 7,
      orgId: 'org_1',
      status: 'RUNNING',
      took: 12.5,
    });
    expect(output.lines[0]?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  it('writes every level', () => {
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(output.lines.map(({ level }) => level)).toEqual(['DEBUG', 'INFO', 'WARN', 'ERROR']);
  });

  it('carries appended fields on every line until they are cleared', () => {
    log.append({ executionId: 'exe_1', seq: 1 });
    log.append({ orgId: 'org_1', seq: 2 });
    log.info('one');
    log.clear();
    log.info('two');
    expect(output.lines[0]).toMatchObject({ executionId: 'exe_1', orgId: 'org_1', seq: 2 });
    expect(output.lines[1]).not.toHaveProperty('executionId');
    expect(output.lines[1]).not.toHaveProperty('orgId');
  });

  it.each([
    'content',
    'prompt',
    'systemPrompt',
    'apiKey',
    'api_key',
    'x-api-key',
    'authorization',
    'Authorization',
    'arguments',
    'result',
    'toolResult',
    'body',
    'requestBody',
    'password',
    'secret',
    'clientSecret',
    'cookie',
    'payload',
    'headers',
    'signature',
    'contentState',
    'secretId', // an allowed ending does not help
  ])('never writes a field named %s, in text, object, list, nested or appended', (name) => {
    log.append({ [name]: SECRET });
    log.info('line', {
      [name]: SECRET,
      status: { [name]: SECRET },
      error: Object.assign(new Error('failed'), { [name]: SECRET }),
    });
    log.info('line', { [name]: { id: SECRET, code: SECRET } });
    log.info('line', { [name]: [SECRET] });
    expect(output.lines).toHaveLength(3);
    expect(output.text()).not.toContain(SECRET);
    expect(output.text()).toContain(`[withheld: text of ${SECRET.length}]`);
  });

  it('withholds text and objects under a name that nobody has allowed', () => {
    log.info('line', { reply: SECRET, goals: [SECRET], config: { id: SECRET }, count: 3, done: true });
    expect(output.lines[0]).toMatchObject({
      reply: '[withheld: text of 16]',
      goals: '[withheld: array]',
      config: '[withheld: object]',
      count: 3,
      done: true,
    });
  });

  it('keeps counts of what it withholds', () => {
    log.info('line', { promptTokens: 1200, bodyBytes: 17 });
    expect(output.lines[0]).toMatchObject({ promptTokens: 1200, bodyBytes: 17 });
  });

  it('writes an error with its codes, its stack and its causes, and nothing else of it', () => {
    const cause = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    log.error('failed', { error: new AppError(409, 'illegal_transition', 'No.', { prompt: SECRET }, cause) });
    expect(output.lines[0]).toMatchObject({
      error: {
        name: 'AppError',
        code: 'illegal_transition',
        status: 409,
        message: 'No.',
        cause: { message: 'socket hang up', code: 'ECONNRESET' },
      },
    });
    expect(JSON.stringify(output.lines[0]?.error)).toContain('logger.test.ts');
    expect(output.text()).not.toContain(SECRET);
  });

  it('names the row that cannot be read', () => {
    log.error('failed', { error: new UnreadableRow({ pk: 'ORG#o', sk: 'EXEC' }, 'version 2') });
    expect(output.text()).toContain('ORG#o / EXEC cannot be read: version 2');
  });

  it.each([
    ['what JSON.parse quotes', () => JSON.parse(`{"prompt": ${SECRET}}`) as unknown],
    ['a key of a model account', () => throwing(`Incorrect API key provided: sk-${'a1B2'.repeat(6)}`)],
    ['a bearer token', () => throwing(`401 for Authorization: Bearer ${'a1B2'.repeat(6)}`)],
    ['the query of an address', () => throwing(`GET https://example.com/path?token=${'a1B2'.repeat(6)} failed`)],
    ['the password in an address', () => throwing(`GET https://user:${'a1B2'.repeat(6)}@example.com/path failed`)],
  ])('scrubs the message of an error: %s', (_, work) => {
    try {
      work();
    } catch (error) {
      log.error('failed', { error });
    }
    expect(output.lines).toHaveLength(1);
    expect(output.text()).not.toContain('secret');
    expect(output.text()).not.toContain('a1B2a1B2');
  });

  it('cuts long text', () => {
    log.warn('line', { reason: 'x'.repeat(10_000) });
    expect(String(output.lines[0]?.reason)).toHaveLength(500 + '… (10000 characters)'.length);
  });

  it('survives an object that holds itself', () => {
    const status: { [name: string]: unknown } = { code: 'a' };
    status.status = status;
    log.info('line', { status });
    expect(output.lines).toHaveLength(1);
  });

  it('keeps fields whose names belong to the line itself', () => {
    log.info('line', { level: 'org', message: 'x', service: 'sqs' });
    expect(output.lines).toHaveLength(1);
    expect(output.lines[0]).toMatchObject({ level: 'INFO', message: 'line', level_: 'org', service_: 'sqs' });
  });
});

const throwing = (message: string): never => {
  throw new Error(message);
};
