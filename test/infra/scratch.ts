import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A scratch folder that is gone when the test file ends. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-infra-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
