import { describe, expect, test } from 'vitest';
import { budgetFor, childConfig } from '../../lib/execution/children/config.ts';
import { childIdOf } from '../../lib/execution/children/start-child.ts';
import { A, readExecution } from '../../lib/execution/execution.ts';
import type { Pinned } from '../../lib/execution/rows.ts';
import { limitReached } from '../../lib/execution/step/fuses.ts';
import { isId } from '../../lib/kernel/ids.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { set } from '../../lib/kernel/table.ts';
import { makeMemoryTable } from '../support/memory-table.ts';
import { executionIdOf, NOW, ORG, putExecution } from './support.ts';

const LIMITS = { maxIterations: 10, maxSteps: 100, maxCost: 1_000_000, maxSeconds: 60, maxTokens: undefined };
const MINE = ['finish', 'think', 'http_request', 'run_agent'];
const parent = (more: Partial<Pinned> = {}): Pinned => ({
  goals: ['Top'],
  instructions: [],
  constraints: [],
  maxReplyTokens: 100,
  contextTokens: 1_000,
  repeatLimit: 5,
  config: {},
  ...more,
});
const made = (own: object, args: object = { goal: 'g' }, pinned = parent(), limits: object = {}) => {
  const child = childConfig(pinned, { ...LIMITS, ...limits }, MINE, { ...own }, { ...args });
  if (!child.ok) throw new Error(child.problem);
  return child.config;
};

describe('what a child may do', () => {
  test('its tools are those that both may use, and of these those that are asked for', () => {
    expect(made({}).tools).toEqual(['think', 'http_request', 'run_agent']);
    expect(made({ tools: ['think', 'write_file'] }).tools).toEqual(['think']);
    expect(made({}, { goal: 'g', tools: ['think'] }).tools).toEqual(['think']);
    expect(childConfig(parent(), LIMITS, MINE, {}, { goal: 'g', tools: ['write_file'] })).toEqual({
      ok: false,
      problem: expect.stringContaining('you may not use "write_file"'),
    });
  });

  test.each([
    [{}, {}, { permissionType: 'GOD_MODE' }],
    [{ permissionType: 'RESTRICTED' }, {}, { permissionType: 'RESTRICTED' }],
    [{}, { permissionType: 'RESTRICTED', permissionTools: ['think'] }, { permissionTools: ['think'] }],
    [
      { permissionType: 'RESTRICTED', permissionTools: ['http_request'] },
      { permissionType: 'RESTRICTED', permissionTools: ['think'] },
      { permissionTools: ['http_request', 'think'] },
    ],
    [
      { permissionType: 'RESTRICTED' },
      { permissionType: 'RESTRICTED', permissionTools: ['think'] },
      { permissionTools: ['think', 'http_request', 'run_agent'] },
    ],
    [{ permissionType: 'RESTRICTED', permissionTools: ['http_request'] }, {}, { permissionTools: ['http_request'] }],
  ] as const)('permissions of parent %j and agent %j', (mine, theirs, both) => {
    const config = made(theirs, { agentId: 'agt' }, parent(mine as Partial<Pinned>));
    expect(config).toMatchObject(both);
    expect('permissionTools' in config).toBe('permissionTools' in both);
  });

  test('its limits are the lower ones, and what binds the parent binds it', () => {
    const pinned = parent({ constraints: ['No mail.'], config: { httpUnsafe: true, httpUnsafeHosts: ['a.example'] } });
    const own = { maxIterations: 3, maxSeconds: 1e6, constraints: ['In German.'], httpUnsafeHosts: ['b.example'] };
    expect(made(own, { agentId: 'agt' }, pinned, { maxTokens: 500 })).toMatchObject({
      maxIterations: 3,
      maxSteps: 100,
      maxSeconds: 60,
      maxTokens: 500,
      constraints: ['In German.', 'No mail.'],
      httpUnsafe: true,
      httpUnsafeHosts: ['b.example', 'a.example'],
    });
  });

  test('its goal and instructions are those of the call beside the agent’s own', () => {
    const own = { goals: ['Own.'], instructions: ['Be brief.'] };
    expect(made(own, { agentId: 'agt' })).toMatchObject({ goals: ['Own.'], instructions: ['Be brief.'] });
    expect(made(own, { agentId: 'agt', goal: 'This.', instructions: 'At once.' })).toMatchObject({
      goals: ['This.'],
      instructions: ['Be brief.', 'At once.'],
    });
  });
});

describe('what a child may cost', () => {
  test.each([
    [{}, {}, 900, 3, 0, 300],
    [{}, { maxCostUsd: 0.0001 }, 900, 3, 0, 100],
    [{}, {}, 900, 3, 500, 500],
    [{ maxCostUsd: 0.0009 }, {}, 900, 3, 0, 900],
  ])('%j of an agent with %j, %i left, %i shares, first call %i', (args, own, free, shares, first, micro) => {
    expect(budgetFor({ goal: 'g', ...args }, own, free, shares, first)).toEqual({ ok: true, micro });
  });
  test.each([
    [{ maxCostUsd: 0.001 }, {}, 900, 0],
    [{}, {}, 400, 500],
    [{}, { maxCostUsd: 0.0001 }, 900, 500],
    [{}, {}, 0, 0],
    [{}, {}, -5, 0],
  ])('%j of an agent with %j, %i left, first call %i: nothing is started', (args, own, free, first) => {
    const budget = budgetFor({ goal: 'g', ...args }, own, free, 2, first);
    expect(budget).toEqual({ ok: false, problem: expect.stringContaining('The run was not started') });
  });
});

test('what children cost, and what is set aside for them, counts against the limit of their parent', async () => {
  const table = makeMemoryTable();
  await putExecution(table, 0, [set(A.cost, 1_000_000)]);
  const key = keys.execution(ORG, executionIdOf(0));
  const reached = async () => {
    const item = await table.get(key);
    if (item === undefined) throw new Error('The execution is missing.');
    return limitReached(readExecution(item), { next: 400_000, lost: 600_000 }, NOW)?.reason;
  };
  expect(await reached()).toBeUndefined();
  await table.update(key, [set(A.childCost, 2_000_000)]);
  expect(await reached()).toBeUndefined();
  await table.update(key, [set(A.carved, 1_500_000)]);
  expect(await reached()).toBe('max_cost');
});

test('the same call makes the same id, and it is one', () => {
  const id = childIdOf(executionIdOf(0), 3, 101, NOW);
  expect(isId('exe', id)).toBe(true);
  expect(childIdOf(executionIdOf(0), 3, 101, NOW)).toBe(id);
  expect(new Set([id, childIdOf(executionIdOf(0), 3, 102, NOW), childIdOf(executionIdOf(1), 3, 101, NOW)]).size).toBe(
    3,
  );
});
