import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RehearsalModel, startRehearsalModel } from '../../../local/rehearsal/rehearsal.ts';
import { ask, makeSmallEngine } from './small-engine.ts';

const TASK = [
  'You are an autonomous agent.',
  'Goals:\n1. Put the sales figures of the first quarter into files, one for each region, and report the totals.\n',
  'Instructions:',
  '1. north: January 120, February 135, March 150',
  '2. south: January 90.5, February 80, March 110.25',
  '3. east: January 200, February 10, March 15',
  'It is Monday, 30 November 2026 at 20:24:37 UTC.',
].join('\n');

let model: RehearsalModel;
beforeAll(async () => {
  model = await startRehearsalModel({ latencyMs: 0 });
});
afterAll(() => model.close());

const begin = (task = TASK) => makeSmallEngine(model.url, task);

describe('the job with figures', () => {
  it('writes the files, reads them back, adds up, reports, checks the report and finishes', async () => {
    const engine = begin();
    await engine.until();
    expect(engine.calls).toEqual([
      'think',
      'write_file figures/north.csv',
      'write_file figures/south.csv',
      'write_file figures/east.csv',
      'list_files',
      'read_file figures/east.csv',
      'read_file figures/north.csv',
      'read_file figures/south.csv',
      'write_file totals.csv',
      'append_file report.md',
      'read_file report.md',
      'finish',
    ]);
    expect(await engine.text('figures/north.csv')).toBe('label,value\nJanuary,120\nFebruary,135\nMarch,150\n');
    expect(await engine.text('totals.csv')).toBe('name,total\neast,225\nnorth,405\nsouth,280.75\n');
    expect(await engine.text('report.md')).toBe(
      '# Report\n- east: 225\n- north: 405\n- south: 280.75\nGrand total: 910.75\nHighest: north (405)\n' +
        'Written by the rehearsal model from the files as it read them.\n',
    );
    expect(engine.result).toBe(
      'Rehearsal: east 225, north 405, south 280.75; grand total 910.75 from 3 files. See report.md.',
    );
  });

  it('reports what the files hold when it reads them, not what it wrote', async () => {
    const engine = begin();
    await engine.until(/list_files/);
    await engine.edit('figures/north.csv', 'label,value\nJanuary,1000\n');
    await engine.edit('figures/west.csv', 'label,value\nJanuary,5\n');
    await engine.until();
    expect(engine.result).toContain('north 1000');
    expect(engine.result).toContain('grand total 1505.75');
    expect(await engine.text('report.md')).toContain('Highest: north (1000)');
  });

  it('goes on from the files when the conversation before was summarised', async () => {
    const before = begin();
    await before.until(/write_file figures\/south/);
    await before.edit('figures/west.csv', 'label,value\nJanuary,5\n');
    before.messages.splice(1, before.messages.length, {
      role: 'user',
      content: 'Summary of the earlier steps:\nTwo files are written.',
    });
    before.calls.length = 0;
    await before.until();
    expect(before.calls[0]).toBe('list_files');
    expect(before.calls).not.toContain('write_file figures/north.csv');
    expect(before.calls).toContain('write_file figures/east.csv');
    expect(before.result).toContain('west 5');
    expect(before.result).toContain('grand total 915.75 from 4 files');
  });

  it('writes a file again that somebody took away, and a report that does not fit', async () => {
    const engine = begin();
    await engine.until(/list_files/);
    await engine.remove('figures/north.csv');
    await engine.until(/append_file report/);
    expect(engine.calls.filter((call) => call === 'write_file figures/north.csv')).toHaveLength(2);
    await engine.edit('report.md', 'Grand total: 0\n');
    await engine.until();
    expect(engine.calls).toContain('write_file report.md');
    expect(await engine.text('report.md')).toContain('Grand total: 910.75');
  });

  it('gives up on a file that never stays', async () => {
    const engine = begin();
    for (let steps = 0; steps < 30 && engine.result === undefined; steps++) {
      await engine.step();
      await engine.remove('figures/north.csv');
    }
    expect(engine.result).toContain('figures/north.csv was written three times and is gone again');
  });

  it('looks before it repeats a call whose outcome is unknown', async () => {
    const engine = begin();
    await engine.until(/write_file figures\/north/);
    const last = engine.messages.pop();
    engine.messages.push({
      ...last,
      role: 'tool',
      content: 'The outcome of write_file is unknown. Check before you repeat it.',
    });
    await engine.step();
    expect(engine.calls.at(-1)).toBe('list_files');
    await engine.step();
    expect(engine.calls.at(-1)).toBe('write_file figures/south.csv');
  });

  it('takes figures that a person adds later', async () => {
    const engine = begin();
    await engine.until(/list_files/);
    engine.messages.push({ role: 'user', content: 'west: January 1, February 2' });
    await engine.until();
    expect(engine.calls).toContain('write_file figures/west.csv');
    expect(engine.result).toContain('west 3');
  });

  it('ends when a call fails over and over', async () => {
    const engine = begin();
    await engine.until(/write_file figures\/north/);
    const [assistant, tool] = engine.messages.splice(-2);
    if (assistant === undefined || tool === undefined) throw new Error('no call');
    const failed = { ...tool, role: 'tool', content: 'The path "figures/north.csv" is refused.' };
    for (let times = 0; times < 3; times++) engine.messages.push(assistant, failed);
    await engine.step();
    expect(engine.result).toContain('write_file failed three times');
  });
});

describe('other requests', () => {
  it('notes a goal without figures, and says what it is', async () => {
    const engine = begin('Goals:\n1. Write a poem about the sea.');
    await engine.until();
    expect(engine.calls).toEqual(['think', 'write_file notes.md', 'read_file notes.md', 'finish']);
    expect(await engine.text('notes.md')).toContain('a poem about the sea');
    expect(engine.result).toMatch(/^Rehearsal: .*notes\.md has \d+ words\.$/);
  });

  it('asks when the task says so, and reports the answer', async () => {
    const engine = begin(`${TASK}\n4. Ask me what the report should mention.`);
    await engine.until(/ask_user/);
    engine.messages.push({ ...engine.messages.pop(), role: 'tool', content: 'Mention the weather.' });
    await engine.until();
    expect(await engine.text('report.md')).toContain('Asked for: Mention the weather.');
  });

  it('answers a request without tools with an extract of what it was sent', async () => {
    const messages = [
      { role: 'system', content: 'Condense.' },
      { role: 'user', content: 'hello there\nwrote 12 bytes to figures/north.csv\n- total: 405' },
    ];
    const { body } = await ask(model.url, { messages, max_tokens: 100 });
    const text = JSON.stringify(body);
    expect(text).toContain('Extract by the rehearsal model');
    expect(text).toContain('figures/north.csv');
    expect(text).toContain('total: 405');
    expect(text).not.toContain('hello there');
    const long = [{ role: 'user', content: Array.from({ length: 900 }, (_, i) => `line ${i}`).join('\n') }];
    const cut = JSON.stringify((await ask(model.url, { messages: long, max_tokens: 100 })).body);
    expect(cut).toContain('line 899');
    expect(cut).not.toContain('line 100\\n');
    expect(cut.length).toBeLessThan(1_000);
  });

  it('does nothing with tools it does not know', async () => {
    const tools = [{ type: 'function', function: { name: 'finish', parameters: {} } }];
    const { body } = await ask(model.url, { messages: [{ role: 'user', content: 'x' }], tools });
    expect(JSON.stringify(body)).toContain('without the tools write_file');
  });

  it('lists its model, and refuses bad requests with a sentence', async () => {
    const list = await fetch(`${model.url}/models`);
    expect(await list.json()).toMatchObject({ data: [{ id: 'baton-rehearsal' }] });
    for (const body of [{}, [], 'x', { messages: [] }, { messages: 'x' }]) {
      expect(await ask(model.url, body)).toMatchObject({
        status: 400,
        body: { error: { message: expect.any(String) } },
      });
    }
    expect((await ask(model.url, { messages: [{ role: 'user', content: 'x' }], stream: true })).status).toBe(400);
    expect((await fetch(`${model.url}/embeddings`, { method: 'POST', body: '{}' })).status).toBe(404);
    const broken = await fetch(`${model.url}/chat/completions`, { method: 'POST', body: '{"messages": [' });
    expect(broken.status).toBe(400);
    const odd = [{ role: 'assistant', content: null, tool_calls: [null, 5, { id: 1 }] }, { role: 'tool' }, null, 'x'];
    expect((await ask(model.url, { messages: odd })).status).toBe(200);
  });
});
