import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { STATUSES, STOPPED } from '../../lib/execution/status.ts';
import { FUNCTIONS } from '../../lib/names.ts';
import { ROOT, read, tableBelow } from './markdown.ts';

const runbook = read('docs/runbook.md');

const sources = (folder: string): string =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => read(join(folder, path)))
    .join('\n');

describe('the runbook', () => {
  test('has every reason for which a run stops, and none that the code does not know', () => {
    const engine = sources('lib/execution');
    const fuses = [...engine.matchAll(/reason: '([a-z_]+)'/g)]
      .map(([, reason = '']) => reason)
      .filter((reason) => reason !== 'rs');
    const verdicts = [...engine.matchAll(/kind: 'error', code: '([a-z_]+)'/g)].map(([, code = '']) => code);
    const port = read('lib/model/model.ts').slice(read('lib/model/model.ts').indexOf('export type ModelOutcome'));
    const model = [...port.matchAll(/'((?:model|context)_[a-z_]+)'/g)].map(([, code = '']) => code);
    const inCode = [...new Set([...fuses, ...verdicts, ...model])];
    expect(inCode.length).toBeGreaterThan(12);

    const rows = tableBelow(runbook, '## A run that does not go on');
    const stopped = rows.map(([cell = '']) => cell).filter((cell) => STOPPED.some((status) => cell.includes(status)));
    const told = stopped.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, reason = '']) => reason));
    expect(told.toSorted()).toEqual(inCode.toSorted());
    for (const cell of stopped) expect(STATUSES).toContain(/^`([A-Z_]+)`/.exec(cell)?.[1]);
  });

  test('has every alarm of the stack', () => {
    // Names as the constructs make them: `${props.name}-errors`, with the queue's, the function's or the stage's name before.
    const endings = [
      ...sources('cdk/constructs').matchAll(/name: `\$\{(?:props\.)?name\}-([a-z0-9-]+)`,\n\s+description/g),
    ]
      .map(([, ending = '']) => ending)
      .toSorted();
    expect(endings.length).toBeGreaterThanOrEqual(8);
    const told = tableBelow(runbook, '## Alarms').flatMap(([cell = '']) =>
      [...cell.matchAll(/`baton-dev-([\w-]+)`/g)].map(([, name = '']) => name),
    );
    for (const ending of endings) {
      const found = told.some((name) => name === ending || name.endsWith(`-${ending}`));
      expect(found, `an alarm that ends in ${ending}, among ${told.join(', ')}`).toBe(true);
    }
  });

  test('names functions that exist', () => {
    const named = [...runbook.matchAll(/(?:log of|lambda\/|mapping of) `?baton-dev-([a-z-]+)/g)].map(
      ([, name = '']) => name,
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !(FUNCTIONS as readonly string[]).includes(name))).toEqual([]);
  });
});
