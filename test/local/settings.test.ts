import { expect, test } from 'vitest';
import { readSettings } from '../../local/settings.ts';

test('defaults', () => {
  const settings = readSettings({});
  expect(settings).toMatchObject({
    port: 4000,
    apiKey: undefined,
    model: undefined,
    overrides: { LEASE_SECONDS: '5' },
  });
  expect(settings.home).toMatch(/\/\.baton$/);
  expect(settings.overrides).not.toHaveProperty('STEP_DELAY_SECONDS'); // the template's holds
});

test('an empty variable counts as none', () => {
  expect(readSettings({ PORT: '', OPENAI_API_KEY: '', EGRESS_ALLOW: '' })).toMatchObject({
    port: 4000,
    model: undefined,
  });
});

test.each([
  [{ OPENAI_API_KEY: 'k' }, { baseUrl: 'https://api.openai.com/v1', apiKey: 'k', model: 'gpt-4o-mini' }],
  [
    { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
    { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'none', model: 'gpt-4o-mini' },
  ],
  [
    { OPENAI_BASE_URL: 'http://h/v1', OPENAI_API_KEY: 'k', OPENAI_MODEL: 'm' },
    { baseUrl: 'http://h/v1', apiKey: 'k', model: 'm' },
  ],
  [{ OPENAI_MODEL: 'm' }, undefined],
])('model account of %j', (environment, account) => {
  expect(readSettings(environment).model).toEqual(account);
});

test('overrides are handed on as they are', () => {
  const environment = { STEP_DELAY_SECONDS: '0', LEASE_SECONDS: '9', EGRESS_ALLOW: '127.0.0.1:9000, [::1]:80' };
  expect(readSettings(environment).overrides).toEqual(environment);
});

test.each([
  ['PORT', '70000'],
  ['PORT', '-1'],
  ['BATON_API_KEY', 'x'.repeat(31)],
  ['BATON_API_KEY', `${'x'.repeat(32)} y`],
  ['STEP_DELAY_SECONDS', '901'],
  ['STEP_DELAY_SECONDS', '1.5'],
  ['LEASE_SECONDS', '0'],
  ['EGRESS_ALLOW', 'localhost'],
  ['OPENAI_BASE_URL', 'localhost:1234'],
  ['BATON_CHAOS', 'explode=1'],
])('%s=%s is refused, and the value of a key is not shown', (name, value) => {
  expect(() => readSettings({ [name]: value })).toThrow(name === 'BATON_CHAOS' ? 'explode=1' : name);
  if (name === 'BATON_API_KEY') expect(() => readSettings({ [name]: value })).not.toThrow(value);
});
