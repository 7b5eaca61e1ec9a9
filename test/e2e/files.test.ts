import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from './support/api.ts';
import { finish, type ModelCall, type Script, type ToolUse } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

const BIG = Array.from({ length: 1500 }, (_, line) => `line ${line}: ünïcödé`).join('\n');

let world: World;
beforeAll(async () => {
  world = await startWorld({}, ({ path }) => (path === '/big' ? BIG : 'ok'));
});
afterAll(() => world?.close());

let names = 0;
const script = (reply: Script) => {
  const model = `files-${++names}`;
  return { model, heard: world.model.script(model, reply) };
};
const outcomes = (call: ModelCall | undefined): string[] =>
  (call?.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => String(content));

/** One step for each call, then the end. @returns what each call was answered */
const carryOut = async (calls: readonly ToolUse[]): Promise<{ readonly id: string; readonly told: string[] }> => {
  const { model, heard } = script(({ n }) => {
    const call = calls[n - 1];
    return call === undefined ? finish('done') : { calls: [call] };
  });
  const { id } = await world.cloud.run({ model, maxIterations: 100, contextTokens: 200_000 });
  const end = await world.cloud.until(id, ['COMPLETED', 'ERROR_PAUSED', 'FAILED'], 60);
  expect(end.status).toBe('COMPLETED');
  return { id, told: outcomes(heard.calls.at(-1)) };
};
const write = (path: string, content = 'x'): ToolUse => ({ name: 'write_file', args: { path, content } });
const read = (path: string, more: object = {}): ToolUse => ({ name: 'read_file', args: { path, ...more } });
const download = (id: string, path: string) =>
  world.cloud.call('GET', `/v1/executions/${id}/files/${path.split('/').map(encodeURIComponent).join('/')}`);

describe('paths', () => {
  const BAD = [
    '/etc/passwd',
    '../up.txt',
    'a/../../b',
    'a//b',
    'a/',
    './a',
    'C:\\x',
    'a\\b',
    'why?.txt',
    'a%20b.txt',
    '~spilled/1-101',
    'nul\0',
    '',
  ];

  test('a bad path is refused with a sentence, and nothing is written', async () => {
    const { id, told } = await carryOut(BAD.map((path) => write(path)));
    expect(told).toHaveLength(BAD.length);
    for (const [index, text] of told.entries()) expect(text, BAD[index]).toMatch(/^The (path|arguments) .*/);
    expect((await world.cloud.must('GET', `/v1/executions/${id}/files`)).items).toEqual([]);
    for (const path of ['../x', '~x', 'a//b']) {
      expect((await world.cloud.call('GET', `/v1/executions/${id}/files/${encodeURIComponent(path)}`)).status).toBe(
        400,
      );
    }
    expect((await download(id, 'not-there.txt')).status).toBe(404);
  });

  test('names in any script, with spaces and signs, go in and come out the same', async () => {
    const NAMES = [
      'Übersicht/Größe.md',
      '報告/四月.csv',
      'emoji 🎉.txt',
      'a b+c&d=e#f 50%.txt',
      'quote\'d "name".txt',
      'e\u0301.txt',
    ];
    const { id, told } = await carryOut(NAMES.map((path, index) => write(path, `content ${index}`)));
    for (const text of told) expect(text).toMatch(/^Wrote 9 bytes/);
    const { items } = await world.cloud.must('GET', `/v1/executions/${id}/files`);
    expect(items.map(({ path }: Json) => path).sort()).toEqual(NAMES.map((name) => name.normalize('NFC')).sort());
    for (const [index, name] of NAMES.entries()) {
      const file = await download(id, name.normalize('NFC'));
      expect([file.status, file.text], name).toEqual([200, `content ${index}`]);
      expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename\*=UTF-8''/);
    }
    // One name is one file, however its characters are composed.
    expect((await download(id, 'e\u0301.txt')).text).toBe('content 5');
  });
});

describe('big things', () => {
  test('a big result is set aside; the model gets the beginning and reads on by its id', async () => {
    const { id, told } = await carryOut([
      { name: 'http_request', args: { method: 'GET', url: `${world.sink.url}/big` } },
      read('~spilled/1-101'),
      read('~spilled/1-101', { offset: 8000, limit: 8000 }),
      read('~spilled/9-101'),
    ]);
    expect(told[0]?.length).toBeLessThan(3_000);
    expect(told[0]).toMatch(/^HTTP 200/);
    expect(told[0]).toMatch(/characters in all.*~spilled\/1-101/);
    expect(told[1]).toContain('line 10: ünïcödé');
    expect(told[1]).toMatch(/read on with offset 8000/);
    expect(told[2]).toContain('line 500: ünïcödé');
    // Nothing is lost where the pages meet.
    const pages = [told[1], told[2]].map((text) => text?.slice(text.indexOf('\n') + 1)).join('');
    expect(pages.includes(BIG.slice(0, 12_000))).toBe(true);
    expect(told[3]).toMatch(/no file/);
    expect((await world.cloud.must('GET', `/v1/executions/${id}/files`)).items).toEqual([]);
  });

  test('big arguments reach the tool whole, and the model sees them cut', async () => {
    const content = `${'0123456789'.repeat(30_000)}end`;
    const { model, heard } = script(({ n }) => (n === 1 ? { calls: [write('big.txt', content)] } : finish('done')));
    const { id } = await world.cloud.run({ model });
    await world.cloud.until(id, 'COMPLETED', 30);
    const file = await download(id, 'big.txt');
    expect(file.text.length).toBe(content.length);
    expect(file.text.endsWith('end')).toBe(true);
    const assistant = heard.calls[1]?.messages.find(({ role }) => role === 'assistant');
    const shown = assistant?.tool_calls?.[0]?.function.arguments ?? '';
    expect(shown.length).toBeLessThan(9_000);
    expect(JSON.parse(shown)).toMatchObject({ path: 'big.txt', content: expect.stringContaining('cut here') });
  });

  test('a file above the limit is refused, and the run goes on', async () => {
    const { id, told } = await carryOut([write('huge.txt', 'x'.repeat(1_000_001))]);
    expect(told[0]).toMatch(/1000000|1,000,000/);
    expect((await download(id, 'huge.txt')).status).toBe(404);
  });

  test('a long result of the run is whole in the API', async () => {
    const result = 'word '.repeat(15_000);
    const { model } = script(() => finish(result));
    const { id } = await world.cloud.run({ model });
    expect((await world.cloud.until(id, 'COMPLETED', 20)).result).toBe(result);
  });
});

test('write, append, read, delete in one reply keep their order', async () => {
  const { model, heard } = script(({ n }) =>
    n === 1
      ? {
          calls: [
            write('a.txt', 'one\n'),
            { name: 'append_file', args: { path: 'a.txt', content: 'two\n' } },
            read('a.txt'),
            write('b.txt'),
            { name: 'delete_file', args: { path: 'b.txt' } },
            { name: 'list_files', args: {} },
            read('b.txt'),
          ],
        }
      : finish('done'),
  );
  const { id } = await world.cloud.run({ model });
  await world.cloud.until(id, 'COMPLETED', 20);
  const told = outcomes(heard.calls[1]);
  expect(told[2]).toMatch(/one\ntwo\n$/);
  expect(told[5]).toMatch(/^1 file:\n- a\.txt \(8 bytes\)$/);
  expect(told[6]).toMatch(/no file b\.txt/);
  expect((await download(id, 'a.txt')).text).toBe('one\ntwo\n');
});

test('no prompt was one that a provider would have refused', () => {
  expect(world.model.problems).toEqual([]);
});
