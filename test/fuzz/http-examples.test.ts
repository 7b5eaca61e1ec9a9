/** Requests that were once answered with a 500, each with the right answer. */
import { beforeAll, describe, expect, it } from 'vitest';
import { keys } from '../../lib/kernel/keys.ts';
import { makeWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});

const send = (method: string, path: string, body?: object, query?: string) =>
  world.send({
    method,
    path,
    query,
    headers: { authorization: `Bearer ${world.a.apiKey}` },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

describe('numbers that no table holds', () => {
  it('as a price are refused', async () => {
    const models = [{ name: 'm', inputUsdPerM: 5e-324 }];
    const answer = await send('PUT', '/v1/providers/tiny', { baseUrl: 'https://models.example/v1', models });
    expect([answer.status, answer.json?.errors]).toMatchObject([
      400,
      [{ field: 'models[0].inputUsdPerM', expected: '0 or at least 0.000001' }],
    ]);
  });

  it('as a temperature are refused', async () => {
    const answer = await send('POST', `/v1/agents/${world.a.agentId}/executions`, { config: { temperature: 5e-324 } });
    expect([answer.status, answer.json?.errors]).toMatchObject([400, [{ field: 'config.temperature' }]]);
  });
});

it('a run takes the largest configuration that an agent may have', async () => {
  const texts = (mark: string) => Array.from({ length: 5 }, () => mark.repeat(19_000));
  const config = { goals: texts('g'), instructions: texts('i'), constraints: texts('c') };
  const answer = await send('POST', `/v1/agents/${world.a.agentId}/executions`, { config });
  expect([answer.status, answer.json?.status]).toEqual([202, 'RUNNING']);
  const errors = await world.engine.drain();
  expect(errors).toEqual([]);
  const after = await send('GET', `/v1/executions/${String(answer.json?.id)}`);
  expect(after.json?.status).not.toBe('ERROR_PAUSED');
});

it('a cursor that would not fit into a key is refused', async () => {
  const id = world.a.executions[0];
  const forged = { v: 1, o: world.a.orgId, l: `files/${id}`, p: 'x'.repeat(1_024) };
  const cursor = Buffer.from(JSON.stringify(forged)).toString('base64url');
  const answer = await send('GET', `/v1/executions/${id}/files`, undefined, `cursor=${cursor}`);
  expect([answer.status, answer.json?.code]).toEqual([400, 'invalid_cursor']);
});

it('a damaged time or value of a row is an unreadable row, not an accident', async () => {
  const executionId = world.a.executions[0] ?? '';
  const execution = await world.table.get(keys.execution(world.a.orgId, executionId));
  const config = await world.table.get(keys.agentConfig(world.a.orgId, world.a.agentId, 'custom'));
  if (execution === undefined || config === undefined) throw new Error('missing');
  await world.table.put({ ...execution, cr: 8_640_000_000_000_001 });
  await world.table.put({ ...config, json: '{' });
  for (const path of [`/v1/executions/${executionId}`, `/v1/agents/${world.a.agentId}`]) {
    const answer = await send('GET', path);
    expect([answer.status, answer.json?.code]).toEqual([500, 'unreadable_row']);
  }
});
