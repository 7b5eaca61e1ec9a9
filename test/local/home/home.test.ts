import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openHome } from '../../../local/home/home.ts';
import { StartError } from '../../../local/start-error.ts';

const dir = mkdtempSync(join(tmpdir(), 'home-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test.each(['file', 'file/below'])('a home that cannot be a folder (%s) is refused with a sentence', (name) => {
  writeFileSync(join(dir, 'file'), '');
  expect(() => openHome(join(dir, name))).toThrow(StartError);
  expect(() => openHome(join(dir, name))).toThrow(/^BATON_HOME must be a folder/);
});
