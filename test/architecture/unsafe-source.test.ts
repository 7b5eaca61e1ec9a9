import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** What runs on AWS, by path. */
const deployed = (): ReadonlyMap<string, string> =>
  new Map(
    ['lib', 'functions'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name): [string, string] => [join(folder, name), readFileSync(join(ROOT, folder, name), 'utf8')]),
    ),
  );

/** The ways in which JavaScript takes a text for code, or runs a program. */
const RUNS_TEXT = [
  /\beval\s*\(/,
  /\bnew\s+Function\b/,
  /(?<![\w.'"])Function\s*\(/,
  /['"](?:node:)?(?:vm|child_process|worker_threads|module|repl|inspector)['"]/,
  /\bset(?:Timeout|Interval)\(\s*['"`]/,
  // A module whose name is made at run time.
  /\b(?:import|require)\(\s*(?!['"])/,
];

const READS_ENVIRONMENT = [/\bprocess\.env\b/];

const found = (files: ReadonlyMap<string, string>, patterns: readonly RegExp[]): readonly string[] =>
  [...files].flatMap(([path, source]) =>
    source
      .split('\n')
      .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line) && patterns.some((pattern) => pattern.test(line)))
      .map((line) => `${path}: ${line.trim()}`),
  );

describe('no text is ever run as code', () => {
  it('by anything that is deployed', () => {
    expect(deployed().size).toBeGreaterThan(100);
    expect(found(deployed(), RUNS_TEXT)).toEqual([]);
  });

  it.each([
    'const x = eval(reply);',
    "new Function('return ' + text)();",
    'const f = Function(text);',
    "import { runInNewContext } from 'node:vm';",
    "import { spawn } from 'child_process';",
    "setTimeout('tick()', 1);",
    'const tool = await import(toolkit.path);',
    'const tool = require(path);',
  ])('the check sees %s', (line) => {
    expect(found(new Map([['lib/x.ts', `const a = 1;\n${line}`]]), RUNS_TEXT)).toHaveLength(1);
  });
});

it('no variable of the environment decides what a request, a key or a step may do', () => {
  const rooms = ['http', 'tenancy', 'middleware', 'execution', 'workflow', 'tools', 'superagi', 'model', 'openai'];
  const files = [...deployed()].filter(([path]) => rooms.some((room) => path.startsWith(`lib/${room}/`)));
  expect(found(new Map(files), READS_ENVIRONMENT)).toEqual([]);
  expect(found(new Map([['lib/http/x.ts', "if (process.env.ENV === 'DEV') return;"]]), READS_ENVIRONMENT)).toHaveLength(
    1,
  );
});
