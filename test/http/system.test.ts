import { describe, expect, it } from 'vitest';
import { openApi } from '../../lib/http/openapi.ts';
import { ROUTES } from '../../lib/http/routes/all.ts';
import { makeHarness } from './support/harness.ts';

describe('/health', () => {
  it('answers once the table does', async () => {
    const h = await makeHarness();
    const well = await h.call('GET', '/health', undefined, { key: undefined });
    expect([well.status, well.json]).toEqual([200, { status: 'ok' }]);
  });
});

describe('/ingest', () => {
  it('knows no source yet, and asks for no key', async () => {
    const h = await makeHarness();
    const answer = await h.call('POST', '/ingest/src_x', { any: 'thing' }, { key: undefined });
    expect([answer.status, answer.json.detail]).toEqual([404, 'There is no such source.']);
  });
});

describe('errors of ours', () => {
  it('tell nothing of what happened, and the log everything', async () => {
    const h = await makeHarness();
    h.executions.status = () => Promise.reject(new Error('password hunter2'));
    const failed = await h.call('GET', '/v1/status');
    expect(failed.status).toBe(500);
    expect(failed.text).not.toContain('hunter2');
    expect(h.errors).toHaveLength(1);
  });

  it('of a busy table ask to come again', async () => {
    const h = await makeHarness();
    h.executions.status = () => Promise.reject(Object.assign(new Error('slow down'), { name: 'ThrottlingException' }));
    const busy = await h.call('GET', '/v1/status');
    expect([busy.status, busy.json.code, busy.headers['retry-after']]).toEqual([503, 'busy', '1']);
  });

  it('of an answer that does not fit its schema never leave as an answer', async () => {
    const h = await makeHarness();
    h.executions.status = () => Promise.resolve({ code: 9, checks: [] });
    expect((await h.call('GET', '/v1/status')).status).toBe(500);
  });
});

describe('the OpenAPI document', () => {
  const document = JSON.parse(JSON.stringify(openApi(ROUTES)));

  it('is served to everybody', async () => {
    const h = await makeHarness();
    const served = await h.call('GET', '/openapi.json', undefined, { key: undefined });
    expect(served.json).toEqual(document);
  });

  it('has every route once, with its scope and its problems', () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path as object));
    expect(operations).toHaveLength(ROUTES.length);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const operation of operations) {
      const route = ROUTES.find(({ operationId }) => operationId === operation.operationId);
      expect(operation['x-scope'] ?? 'public').toBe(route?.scope);
      const { content } = operation.responses['400'];
      const [type, schema] =
        route?.errors === 'detail' ? ['application/json', 'Detail'] : ['application/problem+json', 'Problem'];
      expect(content[type].schema.$ref).toBe(`#/components/schemas/${schema}`);
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(Object.keys(route?.responses ?? {})));
    }
  });

  it('refers to what it holds only', () => {
    const text = JSON.stringify(document);
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '');
    expect(refs.length).toBeGreaterThan(20);
    for (const ref of refs)
      expect(Object.keys(document.components.schemas)).toContain(ref.replace('#/components/schemas/', ''));
    expect(text).not.toContain('$defs');
    expect(document.openapi).toBe('3.1.0');
  });

  it('names every path parameter', () => {
    for (const [path, operations] of Object.entries<Record<string, { parameters?: { in: string; name: string }[] }>>(
      document.paths,
    )) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const operation of Object.values(operations)) {
        const named = (operation.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name);
        expect(named).toEqual(wanted);
      }
    }
  });
});
