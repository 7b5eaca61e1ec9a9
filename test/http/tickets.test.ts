import { beforeEach, describe, expect, it } from 'vitest';
import { getExecution } from '../../lib/execution/get.ts';
import { makeExecutionService } from '../../lib/http/executions/service.ts';
import { keys } from '../../lib/kernel/keys.ts';
import { type Harness, makeHarness } from './support/harness.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await makeHarness();
});

const body = { title: 'Look into it', text: 'Why does the build fail?' };
const open = async (given: object = body, headers = {}): Promise<{ id: string; executionIds: string[] }> => {
  const { json, status } = await harness.call('POST', '/v1/tickets', given, { headers });
  expect(status).toBe(201);
  return json as never;
};

describe('tickets over HTTP', () => {
  it('opens one, shows it, and lists it', async () => {
    const ticket = await open({ ...body, mandate: { verb: 'pr', repositoryId: '7', paths: ['src/**'] } });
    expect(ticket).toMatchObject({
      title: 'Look into it',
      phase: 'working',
      slot: 'ordinary',
      mandate: { verb: 'pr', repositoryId: '7', paths: ['src/**'], state: 'active' },
      asked: 'Why does the build fail?',
      threadIds: [],
      reports: [],
    });
    const shown = await harness.call('GET', `/v1/tickets/${ticket.id}`);
    expect(shown.json).toMatchObject({ id: ticket.id, effects: [], reports: [] });
    const listed = await harness.call('GET', '/v1/tickets?phase=working');
    expect(listed.json.items).toMatchObject([{ id: ticket.id }]);
    expect((await harness.call('GET', '/v1/tickets?phase=closed')).json.items).toEqual([]);
    const run = await getExecution(harness.table, {
      orgId: harness.a.organisationId,
      executionId: ticket.executionIds[0] ?? '',
    });
    expect(run).toMatchObject({ ticketId: ticket.id, status: 'RUNNING', inputs: 1 });
  });

  it('opens one for one idempotency key', async () => {
    const headers = { 'idempotency-key': 'k' };
    const [one, two] = [await open(body, headers), await open(body, headers)];
    expect(two.id).toBe(one.id);
    expect(harness.table.dump().filter(({ sk }) => sk === 'TICKET')).toHaveLength(1);
  });

  it.each([
    [{ title: 'x' }, 'text'],
    [{ ...body, mandate: { verb: 'everything' } }, 'mandate.verb'],
    [{ ...body, mandate: { verb: 'pr', grantedBy: 'me' } }, 'grantedBy'],
    [{ ...body, threadId: 'tkt_1' }, 'threadId'],
    [{ ...body, phase: 'closed' }, 'phase'],
  ])('refuses %j and names the field', async (given, field) => {
    const { status, json } = await harness.call('POST', '/v1/tickets', given);
    expect(status).toBe(400);
    expect(JSON.stringify(json.errors)).toContain(field);
  });

  it('refuses a discussion that is not there', async () => {
    const { status } = await harness.call('POST', '/v1/tickets', {
      ...body,
      threadId: 'thr_00000000000000000000000000',
    });
    expect(status).toBe(404);
  });

  it('stops one for good: no answer and no retry brings it back', async () => {
    const { id } = await open();
    const stopped = await harness.call('POST', `/v1/tickets/${id}/stop`);
    expect(stopped.json).toMatchObject({ phase: 'closed', mandate: { state: 'revoked' }, reason: { code: 'stopped' } });
    expect((await harness.call('POST', `/v1/tickets/${id}/stop`)).status).toBe(200);
    const answered = await harness.call('POST', `/v1/tickets/${id}/answer`, { content: 'Go on' });
    expect([answered.status, answered.json.code]).toEqual([409, 'mandate_revoked']);
    expect((await harness.call('POST', `/v1/tickets/${id}/retry`)).status).toBe(409);
    expect((await harness.call('GET', `/v1/tickets/${id}`)).json.digest).toMatchObject({ end: 'stopped' });
  });

  it('takes an answer once for its idempotency key', async () => {
    const { id, executionIds } = await open();
    const options = { headers: { 'idempotency-key': 'a' } };
    for (let time = 0; time < 2; time++) {
      const { status, json } = await harness.call('POST', `/v1/tickets/${id}/answer`, { content: 'blue' }, options);
      expect([status, json.id]).toEqual([202, id]);
    }
    const at = { orgId: harness.a.organisationId, executionId: executionIds[0] ?? '' };
    expect((await getExecution(harness.table, at)).inputs).toBe(2);
    expect(await harness.table.get(keys.input(at.orgId, at.executionId, 2))).toMatchObject({
      text: 'blue',
      wake: true,
    });
  });

  it('does not retry what works', async () => {
    const { id } = await open();
    const { status, json } = await harness.call('POST', `/v1/tickets/${id}/retry`);
    expect([status, json.code, json.phase]).toEqual([409, 'ticket_goes_on', 'working']);
  });

  it("shows and moves nothing of another organisation's", async () => {
    const { id } = await open();
    const other = { key: harness.b.apiKey };
    expect((await harness.call('GET', `/v1/tickets/${id}`, undefined, other)).status).toBe(404);
    for (const what of ['stop', 'retry']) {
      expect((await harness.call('POST', `/v1/tickets/${id}/${what}`, undefined, other)).status).toBe(404);
    }
    expect((await harness.call('POST', `/v1/tickets/${id}/answer`, { content: 'x' }, other)).status).toBe(404);
    expect((await harness.call('GET', '/v1/tickets', undefined, other)).json.items).toEqual([]);
  });

  it.each(['stop', 'retry'])('needs the scope run to %s', async (what) => {
    const { id } = await open();
    const key = await harness.keyWith('read');
    expect((await harness.call('POST', `/v1/tickets/${id}/${what}`, undefined, { key })).status).toBe(403);
    expect((await harness.call('GET', `/v1/tickets/${id}`, undefined, { key })).status).toBe(200);
  });
});

it("a worker's execution takes input and resumes through its ticket alone", async () => {
  const { id, executionIds } = await open();
  const { deps } = harness;
  const service = makeExecutionService({
    ...deps.tickets,
    blobs: { put: async () => undefined, get: async () => undefined },
    filesOf: () => {
      throw new Error('There are no files.');
    },
    modelConfigured: async () => true,
  });
  const at = { orgId: harness.a.organisationId, executionId: executionIds[0] ?? '' };
  const refused = { status: 409, code: 'ticket_execution', details: { ticketId: id } };
  await expect(service.input({ ...at, content: 'x', actor: 'k', alongside: () => [] })).rejects.toMatchObject(refused);
  await expect(service.resume(at, 'k')).rejects.toMatchObject(refused);
});
