import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeKeptFile } from '../../../local/functions/kept-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-kept-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('it holds what was last to be written, however many asked meanwhile, and leaves nothing beside it', async () => {
  let state = 0;
  const said: string[] = [];
  const kept = makeKeptFile(
    join(folder, 'state.json'),
    () => JSON.stringify(state),
    (line) => said.push(line),
  );
  for (state = 1; state < 20; state++) kept.write();
  kept.write();
  await kept.written();
  expect(readFileSync(join(folder, 'state.json'), 'utf8')).toBe('20');
  state = 21;
  kept.write();
  await kept.written();
  expect(readFileSync(join(folder, 'state.json'), 'utf8')).toBe('21');
  expect(readdirSync(folder)).toEqual(['state.json']);
  expect(said).toEqual([]);
});

test('a folder that is not there is said, and the next write is tried', async () => {
  const said: string[] = [];
  const kept = makeKeptFile(
    join(folder, 'missing', 'state.json'),
    () => '1',
    (line) => said.push(line),
  );
  kept.write();
  await kept.written();
  kept.write();
  await kept.written();
  expect(said).toHaveLength(2);
  expect(said[0]).toContain('cannot be written');
});
