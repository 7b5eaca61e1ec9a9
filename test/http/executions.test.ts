import { beforeEach, describe, expect, it } from 'vitest';
import { type Harness, makeHarness } from './support/harness.ts';

let h: Harness;
let agentId: string;
let id: string;
beforeEach(async () => {
  h = await makeHarness();
  agentId = await h.agent();
  id = (await h.call('POST', `/v1/agents/${agentId}/executions`)).json.id as string;
});

const say = (seq: number, n = 0) =>
  h.executions
    .at(id)
    .feed.push({ seq, n, role: 'assistant', content: `${seq}.${n}`, createdAt: '2026-01-01T00:00:00.000Z' });
const contents = (items: unknown) => (items as { content: string }[]).map(({ content }) => content);

describe('starting', () => {
  it('passes goals and instructions as overrides that win', async () => {
    const body = {
      name: 'r',
      goals: ['g'],
      instructions: ['i'],
      config: { goals: ['other'], maxIterations: 2, odd: 1 },
    };
    const started = await h.call('POST', `/v1/agents/${agentId}/executions`, body);
    expect([started.status, started.json.name, started.json.status]).toEqual([202, 'r', 'RUNNING']);
    expect(JSON.parse(h.executions.calls.at(-1)?.slice('start '.length) ?? '')).toEqual({
      goals: ['g'],
      instructions: ['i'],
      maxIterations: 2,
      odd: 1,
    });
  });

  it.each([
    [{ goals: 'g' }, 'goals'],
    [{ config: { tools: ['fly'] } }, 'config.tools[0]'],
    [{ config: { maxCostUsd: -1 } }, 'config.maxCostUsd'],
    [{ goal: [] }, 'goal'],
  ])('refuses %j', async (body, field) => {
    const refused = await h.call('POST', `/v1/agents/${agentId}/executions`, body);
    expect(refused.json.errors).toMatchObject([{ field }]);
  });
});

describe('steering', () => {
  it('pauses, resumes and terminates, or says 409', async () => {
    for (const [verb, status] of [
      ['pause', 'PAUSED'],
      ['resume', 'RUNNING'],
      ['terminate', 'TERMINATED'],
    ] as const) {
      expect((await h.call('POST', `/v1/executions/${id}/${verb}`)).json.status).toBe(status);
    }
    const refused = await h.call('POST', `/v1/executions/${id}/resume`);
    expect([refused.status, refused.json.code]).toEqual([409, 'illegal_transition']);
  });

  it('changes limits that are limits', async () => {
    const changed = await h.call('PATCH', `/v1/executions/${id}`, { maxIterations: 8, maxCostUsd: 1.5 });
    expect(changed.json.limits).toMatchObject({ maxIterations: 8, maxCostUsd: 1.5, maxSeconds: 86_400 });
    expect((await h.call('PATCH', `/v1/executions/${id}`, {})).status).toBe(400);
    expect((await h.call('PATCH', `/v1/executions/${id}`, { maxIterations: 0 })).status).toBe(400);
    expect((await h.call('PATCH', `/v1/executions/${id}`, { status: 'COMPLETED' })).status).toBe(400);
  });

  it('takes a decision once', async () => {
    const { id: ask } = h.executions.ask(id);
    expect((await h.call('GET', '/v1/permissions?status=pending')).json.items).toMatchObject([{ id: ask }]);
    const decide = (decision: string) => h.call('POST', `/v1/permissions/${ask}/decision`, { decision });
    expect((await decide('maybe')).status).toBe(400);
    expect((await h.call('GET', `/v1/permissions/${ask}`)).json).toMatchObject({ id: ask, status: 'pending' });
    expect((await h.call('GET', `/v1/permissions?executionId=${id}`)).json.items).toMatchObject([{ id: ask }]);
    expect((await h.call('GET', '/v1/permissions?executionId=exe_other')).json.items).toEqual([]);
    const bound = (argumentsHash: string) =>
      h.call('POST', `/v1/permissions/${ask}/decision`, { decision: 'approve', argumentsHash });
    expect((await bound('abc')).json).toMatchObject({ status: 400, errors: [{ field: 'argumentsHash' }] });
    expect((await bound('0'.repeat(64))).json).toMatchObject({ status: 409, code: 'arguments_differ' });
    expect((await decide('approve')).json.status).toBe('approved');
    expect((await decide('reject')).status).toBe(409);
  });
});

describe('the feed', () => {
  it('is read to the end by its cursors, and followed', async () => {
    for (const seq of [1, 2, 10]) say(seq);
    say(10, 1);
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const page = await h.call('GET', `/v1/executions/${id}/feed?limit=3${after === '' ? '' : `&after=${after}`}`);
      expect(page.json.nextCursor).toEqual(expect.any(String));
      if (contents(page.json.items).length === 0) break;
      seen.push(...contents(page.json.items));
      after = page.json.nextCursor as string;
    }
    expect(seen).toEqual(['1.0', '2.0', '10.0', '10.1']);
    say(11);
    const more = await h.call('GET', `/v1/executions/${id}/feed?after=${after}`);
    expect(contents(more.json.items)).toEqual(['11.0']);
  });

  it('gives a cursor when there is nothing yet', async () => {
    const empty = await h.call('GET', `/v1/executions/${id}/feed`);
    say(1);
    const next = await h.call('GET', `/v1/executions/${id}/feed?after=${empty.json.nextCursor}`);
    expect(contents(next.json.items)).toEqual(['1.0']);
  });

  it('belongs to one execution', async () => {
    const other = (await h.call('POST', `/v1/agents/${agentId}/executions`)).json.id;
    const { nextCursor } = (await h.call('GET', `/v1/executions/${id}/feed`)).json;
    const refused = await h.call('GET', `/v1/executions/${other}/feed?after=${nextCursor}`);
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_cursor']);
    expect(refused.json.errors).toMatchObject([{ field: 'after' }]);
    expect((await h.call('GET', `/v1/executions/${id}/feed?wait=21`)).status).toBe(400);
  });

  /** Moves time until the answer is there; says how much passed. */
  const timed = async (path: string, options = {}, during: (ms: number) => void | Promise<void> = () => {}) => {
    let done = false;
    const start = h.clock.now();
    const answer = h.call('GET', path, undefined, options).finally(() => {
      done = true;
    });
    while (!done) {
      await during(h.clock.now() - start);
      await h.clock.advance(100);
    }
    return { answer: await answer, ms: h.clock.now() - start };
  };

  it('is waited for until a row comes', async () => {
    const { answer, ms } = await timed(`/v1/executions/${id}/feed?wait=20`, {}, (at) => {
      if (at === 2_000) say(1);
    });
    expect(contents(answer.json.items)).toEqual(['1.0']);
    expect(ms).toBeGreaterThanOrEqual(2_000);
    expect(ms).toBeLessThan(3_000);
  });

  it('is waited for no longer than asked, than the execution lasts, or than the function does', async () => {
    const asked = await timed(`/v1/executions/${id}/feed?wait=3`);
    expect(asked.ms).toBeGreaterThanOrEqual(3_000);
    expect(asked.ms).toBeLessThan(4_000);
    const short = await timed(`/v1/executions/${id}/feed?wait=20`, { remainingMs: 4_000 });
    expect(short.ms).toBeLessThan(4_000);
    expect(short.answer.status).toBe(200);
    const ended = await timed(`/v1/executions/${id}/feed?wait=20`, {}, async (at) => {
      if (at === 1_000) await h.call('POST', `/v1/executions/${id}/terminate`);
    });
    expect(ended.ms).toBeLessThan(2_500);
  });
});

describe('files', () => {
  it('are downloads, byte for byte', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    h.executions.at(id).files.set('out/ü (1).html', bytes);
    const path = `/v1/executions/${id}/files/out/${encodeURIComponent('ü (1).html')}`;
    const got = await h.call('GET', path);
    expect(got.status).toBe(200);
    expect(got.headers).toMatchObject({
      'content-disposition': "attachment; filename*=UTF-8''%C3%BC%20%281%29.html",
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    expect(got.text).toBe(Buffer.from(bytes).toString('utf8'));
    expect((await h.call('GET', `/v1/executions/${id}/files`)).json.items).toMatchObject([{ bytes: 256 }]);
    expect((await h.call('GET', `/v1/executions/${id}/files/nope.txt`)).status).toBe(404);
    h.executions.at(id).files.set('big', new Uint8Array(4_500_001));
    expect((await h.call('GET', `/v1/executions/${id}/files/big`)).json.code).toBe('file_too_large');
  });
});

describe('a GET', () => {
  it('changes no state', async () => {
    h.executions.ask(id);
    const state = () => JSON.stringify(h.table.dump().filter(({ sk }) => !sk.startsWith('APIKEY#')));
    const before = state();
    for (const path of ['agents', `agents/${agentId}`, `agents/${agentId}/config`, 'executions', `executions/${id}`]) {
      expect((await h.call('GET', `/v1/${path}`)).status).toBe(200);
    }
    for (const path of ['feed', 'steps', 'files']) await h.call('GET', `/v1/executions/${id}/${path}`);
    for (const path of [
      'projects',
      'keys',
      'providers',
      'tools',
      'status',
      'permissions',
      'attention',
      'organisation',
    ]) {
      expect((await h.call('GET', `/v1/${path}`)).status).toBe(200);
    }
    expect(state()).toBe(before);
  });
});
