import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FUNCTIONS } from '../lib/names.ts';
import { violations } from './architecture/check.ts';
import { importsOf } from './architecture/source.ts';

const ROOT = resolve(import.meta.dirname, '..');
const SKIPPED = new Set(['node_modules', '.git', 'cdk.out', '.baton', 'coverage']);
const TEXT = /\.(ts|mjs|json|md|sh|ya?ml)$|(^|\/)run$/;

function read(folder: string, tree = new Map<string, string>()): Map<string, string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (SKIPPED.has(entry.name)) continue;
    if (entry.isDirectory()) read(path, tree);
    else if (entry.isFile() && TEXT.test(path)) tree.set(relative(ROOT, path), readFileSync(path, 'utf8'));
  }
  return tree;
}

describe('the house', () => {
  const tree = read(ROOT);

  it('is read whole', () => {
    expect(tree.has('lib/names.ts')).toBe(true);
    expect(tree.has('.ci/run')).toBe(true);
    expect([...tree.keys()].filter((path) => path.startsWith('lib/')).length).toBeGreaterThan(50);
  });

  it('keeps its floors', () => {
    expect(violations(tree)).toEqual([]);
  });

  it('has a handler for every function and no other folder of functions', () => {
    const handlers = [...tree.keys()].filter((path) => path.startsWith('functions/'));
    expect(handlers.toSorted()).toEqual(FUNCTIONS.map((name) => `functions/${name}/handler.ts`).toSorted());
  });
});

/** A tree in which nothing is wrong but what a test adds. */
const sound = {
  'lib/names.ts': 'export const A = 1;\n',
  'lib/kernel/ports.ts': 'export interface Clock {}\n',
  'lib/model/model.ts': 'export const model = 1;\n',
  'lib/tools/tool.ts': "import { model } from '../model/model.ts';\nexport const tool = model;\n",
  'lib/execution/run.ts': "import { tool } from '../tools/tool.ts';\nexport const run = tool;\n",
  'lib/aws/table.ts': "import type { Clock } from '../kernel/ports.ts';\nexport const table: Clock = {};\n",
  'lib/http/router.ts': "import { run } from '../execution/run.ts';\nexport const router = run;\n",
  'lib/compose/step.ts': "import { table } from '../aws/table.ts';\nexport const compose = () => table;\n",
  'functions/step/handler.ts':
    "import { compose } from '../../lib/compose/step.ts';\nexport const handler = compose;\n",
  'functions/api/handler.ts': "import { router } from '../../lib/http/router.ts';\nexport const handler = router;\n",
  'cdk/stack.ts':
    "import { App } from 'aws-cdk-lib';\nimport { A } from '../lib/names.ts';\nexport const a = [App, A];\n",
  'local/main.ts': "import { A } from '../lib/names.ts';\nexport const a = A;\n",
  'scripts/openapi.ts': "import { router } from '../lib/http/router.ts';\nconsole.log(router);\n",
};

const wrong = (files: { readonly [path: string]: string }) =>
  violations(new Map(Object.entries({ ...sound, ...files })));
const importing = (target: string) => `import { x } from '${target}';\nexport const y = x;\n`;

describe('the check of the house', () => {
  it('finds nothing where nothing is wrong', () => {
    expect(wrong({})).toEqual([]);
  });

  it.each([
    ['names import nothing', 'lib/names.ts', './kernel/ports.ts'],
    ['the kernel imports no capability', 'lib/kernel/bad.ts', '../tools/tool.ts'],
    ['a capability imports none above it', 'lib/tools/bad.ts', '../execution/run.ts'],
    ['a type is an import too', 'lib/model/bad.ts', '../tools/tool.ts'],
    ['a capability imports no adapter', 'lib/execution/bad.ts', '../aws/table.ts'],
    ['a capability does not know HTTP', 'lib/execution/bad.ts', '../http/router.ts'],
    ['an adapter imports no use case', 'lib/aws/bad.ts', '../execution/run.ts'],
    ['an adapter imports no other adapter', 'lib/openai/bad.ts', '../aws/table.ts'],
    ['HTTP imports no adapter', 'lib/http/bad.ts', '../aws/table.ts'],
    ['nothing of lib imports compose', 'lib/http/bad.ts', '../compose/step.ts'],
    ['a handler reaches adapters through compose', 'functions/step/bad.ts', '../../lib/aws/table.ts'],
    ['no function imports another', 'functions/step/bad.ts', '../api/handler.ts'],
    ['cdk imports names and nothing else of lib', 'cdk/bad.ts', '../lib/kernel/ports.ts'],
    ['local imports names and nothing else of lib', 'local/bad.ts', '../lib/compose/step.ts'],
    ['local reads the template, not the code that makes it', 'local/bad.ts', '../cdk/stack.ts'],
    ['lib does not know local', 'lib/execution/bad.ts', '../../local/main.ts'],
  ])('%s', (_rule, path, target) => {
    expect(wrong({ [path]: importing(target) }).join('\n')).toMatch(
      new RegExp(`^${path}: .*(may not import|imports another)`, 'm'),
    );
  });

  it.each([
    ['lib/kernel/bad.ts', '@aws-sdk/client-sqs'],
    ['lib/execution/bad.ts', 'openai'],
    ['lib/execution/bad.ts', 'node:fs'],
    ['lib/tools/bad.ts', 'undici'],
    ['lib/names.ts', 'zod'],
    ['lib/aws/bad.ts', 'openai'],
    ['lib/http/bad.ts', '@aws-sdk/client-dynamodb'],
    ['functions/step/handler.ts', '@aws-sdk/client-sqs'],
    ['cdk/bad.ts', '@aws-sdk/client-sqs'],
  ])('%s may not import %s', (path, name) => {
    expect(wrong({ [path]: importing(name) })).toContainEqual(expect.stringContaining(`may not import ${name}`));
  });

  it('asks for a floor when a room is new', () => {
    expect(wrong({ 'lib/attic/a.ts': importing('../names.ts') })).toEqual([
      'lib/attic/a.ts: no floor for the room lib/attic (test/architecture/floors.ts)',
    ]);
  });

  it('lets nobody but tests import tests', () => {
    const files = {
      'test/support/fake.ts': 'export const x = 1;\n',
      'scripts/bad.ts': importing('../test/support/fake.ts'),
    };
    expect(wrong(files)).toEqual(['scripts/bad.ts: imports from the tests, test/support/fake.ts']);
  });

  it('finds cycles of files, unless they are made of types', () => {
    const cycle = { 'lib/agent/a.ts': importing('./b.ts'), 'lib/agent/b.ts': importing('./c.ts') };
    expect(wrong({ ...cycle, 'lib/agent/c.ts': importing('./a.ts') })).toEqual([
      'import cycle: lib/agent/a.ts → lib/agent/b.ts → lib/agent/c.ts → lib/agent/a.ts',
    ]);
    expect(wrong({ ...cycle, 'lib/agent/c.ts': "import type { y } from './a.ts';\nexport const x: y = 1;\n" })).toEqual(
      [],
    );
  });

  it('finds files that are too long, by kind', () => {
    const lines = (count: number) => 'x();\n'.repeat(count);
    expect(
      wrong({ 'functions/step/handler.ts': lines(40), 'lib/agent/a.ts': lines(300), 'test/a.test.ts': lines(400) }),
    ).toEqual([]);
    expect(
      wrong({ 'functions/step/handler.ts': lines(41), 'lib/agent/a.ts': lines(301), 'test/a.test.ts': lines(401) }),
    ).toEqual([
      'functions/step/handler.ts: 41 lines, at most 40',
      'lib/agent/a.ts: 301 lines, at most 300',
      'test/a.test.ts: 401 lines, at most 400',
    ]);
  });

  it('finds default exports, imports of nothing, and paths of one machine', () => {
    expect(wrong({ 'lib/agent/a.ts': 'export default 1;\n' })).toEqual(['lib/agent/a.ts: has a default export']);
    expect(wrong({ 'lib/agent/a.ts': importing('../names') })).toContainEqual(
      expect.stringContaining('does not exist'),
    );
    const path = ['', 'home', 'somebody', 'baton'].join('/');
    expect(wrong({ 'docs/guide.md': `Go to\n${path} first.\n` })).toEqual([
      'docs/guide.md:2: holds a path of one machine',
    ]);
    const address = `${'ht'}tps://registry.example.com/a.tgz`;
    expect(wrong({ 'package-lock.json': `{"resolved": "${address}"}` })).toEqual([
      'package-lock.json: holds download addresses',
    ]);
  });
});

describe('reading imports', () => {
  const found = (source: string) =>
    importsOf('lib/agent/a.ts', source).map(({ specifier, typeOnly }) => [specifier, typeOnly]);

  it('sees every way to write one', () => {
    const source = [
      "import './effect.ts';",
      "import * as z from 'zod';",
      "import one, { two } from './three.ts';",
      "import {\n  type Four,\n  five,\n} from './six.ts';",
      "export { seven } from './eight.ts';",
      "export * from './nine.ts';",
      `const ten = await ${'import'}('./eleven.ts');`,
    ].join('\n');
    expect(found(source).map(([specifier]) => specifier)).toEqual([
      './effect.ts',
      'zod',
      './three.ts',
      './six.ts',
      './eight.ts',
      './nine.ts',
      './eleven.ts',
    ]);
  });

  it('tells types from values', () => {
    expect(
      found(
        "import type { A } from './a.ts';\nimport { type B, type C } from './b.ts';\nimport { type D, e } from './c.ts';",
      ),
    ).toEqual([
      ['./a.ts', true],
      ['./b.ts', true],
      ['./c.ts', false],
    ]);
  });

  it('is not taken in by comments and by text', () => {
    expect(
      found(
        "// import './a.ts';\n/**\n * import './b.ts';\n */\nexport const from = 'here';\nexport const a = \"from './c.ts'\";\n",
      ),
    ).toEqual([]);
  });
});
