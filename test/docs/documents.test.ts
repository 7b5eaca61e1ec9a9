import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CONFIG_SCHEMAS, DEFAULTS } from '../../lib/agent/config-keys.ts';
import { LOCAL_OVERRIDES } from '../../lib/names.ts';
import { blocksOf, documents, ROOT, read, tableBelow } from './markdown.ts';

const manifest = JSON.parse(read('package.json')) as {
  readonly scripts: { readonly [name: string]: string };
  readonly dependencies: { readonly [name: string]: string };
  readonly devDependencies: { readonly [name: string]: string };
  readonly optionalDependencies: { readonly [name: string]: string };
};

/** Commands of npm itself. */
const NPM = new Set(['ci', 'test', 'start', 'run']);

/** What is wrong with the commands of a shell block: a script, binary or file that does not exist. */
const faultsOf = (text: string): readonly string[] => {
  const commands = text.replace(/#.*$/gm, '');
  const npm = [...commands.matchAll(/\bnpm (?:--\S+ )*(\S+)(?: (?:--\S+ )*([\w:-]+))?/g)].flatMap(
    ([, verb = '', name = '']) => {
      if (!NPM.has(verb)) return [`npm ${verb}`];
      const script = verb === 'run' ? name : verb;
      return verb === 'ci' || script in manifest.scripts ? [] : [`npm run ${script}`];
    },
  );
  const npx = [...commands.matchAll(/\bnpx (\S+)/g)].flatMap(([, name = '']) =>
    existsSync(join(ROOT, 'node_modules/.bin', name)) ? [] : [`npx ${name}`],
  );
  const paths = [
    ...commands.matchAll(/(?<![\w/.$])(?:node |(?=test\/|examples\/|scripts\/))([\w./-]+\/[\w./-]+)/g),
  ].flatMap(([, path = '']) => (existsSync(join(ROOT, path)) ? [] : [path]));
  return [...npm, ...npx, ...paths];
};

describe('every document', () => {
  test('the check itself sees what does not exist', () => {
    expect(
      faultsOf('npm ci && npm run demo && npm test\nnpx vitest run test/docs\nnode examples/run-agent.ts'),
    ).toEqual([]);
    const wrong = 'npm run dance\nnpm prance\nnpx trance\nnode examples/none.ts\nnpx vitest run test/none';
    expect(faultsOf(wrong)).toEqual(['npm run dance', 'npm prance', 'npx trance', 'examples/none.ts', 'test/none']);
  });

  test.each(documents())('%s: commands name what exists', (path) => {
    const shell = blocksOf(read(path)).filter(({ info }) => info[0] === 'sh');
    expect(shell.flatMap(({ text }) => faultsOf(text))).toEqual([]);
    const unknown = blocksOf(read(path)).filter(({ info }) => !['sh', 'text', 'json'].includes(info[0] ?? ''));
    expect(unknown, 'blocks are sh, text or json').toEqual([]);
  });

  test.each(documents())('%s: links lead somewhere', (path) => {
    const links = [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const broken = links.filter((target) => {
      if (/^https?:/.test(target)) return false;
      const [file = '', anchor] = target.split('#');
      const document = file === '' ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(ROOT, document))) return true;
      return anchor !== undefined && !anchorsOf(read(document)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test.each(documents())('%s: speaks of no machine and of nobody at work', (path) => {
    expect(read(path)).not.toMatch(/\/(?:home|root|work|tmp|Users)\/|\blocalhost:\d|registry\./);
  });
});

const anchorsOf = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

describe('the README', () => {
  const readme = read('README.md');

  test('names every configuration key with its default', () => {
    const rows = tableBelow(readme, '## Configuration of an agent');
    const told = new Map(rows.map(([key = '', value = '']) => [key.replaceAll('`', ''), value.replaceAll('`', '')]));
    expect([...told.keys()].toSorted()).toEqual(Object.keys(CONFIG_SCHEMAS).toSorted());
    for (const [key, value] of Object.entries(DEFAULTS)) {
      expect(told.get(key), key).toBe(typeof value === 'string' ? value : JSON.stringify(value));
    }
  });

  test('names every variable of the local cloud', () => {
    const rows = tableBelow(readme, '## Environment of the local cloud');
    const told = rows.flatMap(([names = '']) => names.replaceAll('`', '').split(', '));
    const inCode = [...read('local/settings.ts').matchAll(/value\('(\w+)'\)/g)].map(([, name = '']) => name);
    expect(told.toSorted()).toEqual([...new Set([...inCode, ...LOCAL_OVERRIDES])].toSorted());
  });

  test('does its sum right', () => {
    const rows = tableBelow(readme, '## What it costs');
    const parts = rows.slice(0, -1).map(([part = '', units, price, usd]) => {
      const exact = Number(units) * Number(price);
      expect(Number(usd), part).toBeCloseTo(exact, 1);
      expect(Math.abs(Number(usd) - exact), part).toBeLessThanOrEqual(0.005 + 1e-9);
      return exact;
    });
    expect(parts.length).toBe(5);
    const [what, , , total] = rows.at(-1) ?? [];
    expect(what).toBe('in all');
    expect(total).toBe(parts.reduce((sum, part) => sum + part, 0).toFixed(2));
  });
});

describe('the decision records', () => {
  const names = readdirSync(join(ROOT, 'docs/adr'));

  test('have one number each, which is also in the title', () => {
    const numbers = names.map((name) => Number(/^(\d{4})-[a-z0-9-]+\.md$/.exec(name)?.[1]));
    expect(new Set(numbers).size).toBe(names.length);
    for (const [at, name] of names.entries())
      expect(read(`docs/adr/${name}`), name).toMatch(new RegExp(`^# ${numbers[at]}\\. `));
  });

  test.each(names)('%s says why and what follows', (name) => {
    const text = read(`docs/adr/${name}`);
    const parts = ['Context', 'Decision', 'Consequences'].map((part) => text.indexOf(`**${part}.**`));
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    expect(Math.min(...parts)).toBeGreaterThan(0);
  });

  test('list every package that is installed, and no other', () => {
    const page = read('docs/adr/0026-dependencies.md');
    const listed = page
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    const installed = [
      ...Object.keys(manifest.dependencies).filter(isImported),
      ...Object.keys(manifest.devDependencies),
      ...Object.keys(manifest.optionalDependencies),
    ];
    expect(listed.toSorted()).toEqual(installed.toSorted());
  });
});

/** A package that no source names is knip's to find. */
const isImported = (name: string): boolean =>
  readdirSync(join(ROOT, 'lib'), { recursive: true, encoding: 'utf8' }).some(
    (path) => path.endsWith('.ts') && read(join('lib', path)).includes(`'${name}`),
  );
