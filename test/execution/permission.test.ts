import { describe, expect, test } from 'vitest';
import type { AskRow } from '../../lib/execution/rows.ts';
import {
  argumentsHash,
  expiryOf,
  isDecided,
  isRefusal,
  needsPermission,
  refusalText,
  remarkOf,
} from '../../lib/execution/step/permission.ts';
import { at, NOW } from './support.ts';

const CALL = { name: 'pay', arguments: '{"what":"rent"}' };
const ask = (more: Partial<AskRow> = {}): AskRow => ({
  v: 1,
  ...at(),
  askId: 'ask_1',
  kind: 'permission',
  seq: 1,
  n: 101,
  state: 'approved',
  tool: CALL.name,
  arguments: CALL.arguments,
  argumentsHash: argumentsHash(CALL),
  why: '',
  at: NOW,
  ...more,
});

describe('a decision', () => {
  test('counts for the call that was shown, byte for byte', () => {
    for (const state of ['approved', 'rejected', 'expired'] as const)
      expect(isDecided(ask({ state }), CALL)).toBe(true);
    expect(isDecided(ask(), { ...CALL, arguments: '{"what": "rent"}' })).toBe(false);
    expect(isDecided(ask(), { ...CALL, name: 'post' })).toBe(false);
  });

  test.each([
    ['the arguments that were shown', { arguments: '{"what":"bread"}' }],
    ['the tool that was shown', { tool: 'look' }],
    ['the hash', { argumentsHash: argumentsHash({ ...CALL, arguments: '{}' }) }],
    ['all of it', { arguments: '{}', argumentsHash: argumentsHash({ ...CALL, arguments: '{}' }) }],
  ])('is none when somebody has changed %s', (_, changed) => {
    expect(isDecided(ask(changed), CALL)).toBe(false);
  });

  test.each(['pending', 'cancelled', 'answered'] as const)('is none while the row says %s', (state) => {
    expect(isDecided(ask({ state }), CALL)).toBe(false);
  });

  test('that is missing is none', () => expect(isDecided(undefined, CALL)).toBe(false));
});

describe('what the model is told', () => {
  test('of a refusal: who refused, and why', () => {
    expect(refusalText(ask({ state: 'rejected', feedback: 'too dear' }))).toMatch(/rejected.*too dear/);
    expect(refusalText(ask({ state: 'expired' }))).toMatch(/Nobody decided in time/);
    expect([isRefusal(ask()), isRefusal(undefined), isRefusal(ask({ state: 'expired' }))]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('of an approval: what the person said with it', () => {
    expect(remarkOf(ask({ feedback: 'only once' }))).toContain('only once');
    expect(remarkOf(ask())).toBe('');
    expect(remarkOf(ask({ state: 'rejected', feedback: 'no' }))).toBe('');
    expect(remarkOf(undefined)).toBe('');
  });
});

describe('needing leave', () => {
  test.each(['write_file', 'Write File', 'WRITE-FILE', ' write_file ', 'writeFile'])(
    'a tool that the configuration spells %j needs it under its own name',
    (name) => {
      const pinned = { permissionType: 'RESTRICTED' as const, permissionTools: [name] };
      expect(needsPermission(pinned, 'write_file', 'idempotent')).toBe(true);
      expect(needsPermission(pinned, 'read_file', 'none')).toBe(false);
    },
  );

  test('without a list goes by what the call does', () => {
    const pinned = { permissionType: 'RESTRICTED' as const, permissionTools: undefined };
    expect(needsPermission(pinned, 'look', 'none')).toBe(false);
    expect(needsPermission(pinned, 'pay', 'unsafe')).toBe(true);
    expect(needsPermission({ ...pinned, permissionType: 'GOD_MODE' }, 'pay', 'unsafe')).toBe(false);
  });
});

test('it may wait for ever unless the configuration says how long; then it is rejected unless told otherwise', () => {
  const none = { permissionTtlSeconds: undefined, permissionExpiry: undefined };
  expect(expiryOf(none)).toEqual({});
  expect(expiryOf({ ...none, permissionExpiry: 'pause' })).toEqual({});
  expect(expiryOf({ ...none, permissionTtlSeconds: 60 })).toEqual({ expiry: { ms: 60_000, then: 'reject' } });
  expect(expiryOf({ permissionTtlSeconds: 60, permissionExpiry: 'pause' })).toEqual({
    expiry: { ms: 60_000, then: 'pause' },
  });
});
