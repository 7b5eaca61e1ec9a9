/** What is wrong with a tree of sources, as sentences. Works on text, so that its own tests can hand it a made-up tree. */
import {
  ADAPTERS,
  BESIDES,
  CAPABILITIES,
  CAPABILITY_PACKAGES,
  GROUND,
  MOST_LINES,
  PACKAGES,
  PORT_FILES,
} from './floors.ts';
import { type Import, importsOf, roomOf } from './source.ts';

/** Path from the root → text. */
export type Tree = ReadonlyMap<string, string>;

interface Edge extends Import {
  readonly from: string;
}

const isCode = (path: string) => /\.(ts|mjs)$/.test(path);
const isTest = (path: string) => path.startsWith('test/');
const lib = (names: readonly string[]) => names.map((name) => `lib/${name}`);
const ground: readonly string[] = lib(GROUND);
const capabilities: readonly string[] = lib(CAPABILITIES);
const adapters: readonly string[] = lib(ADAPTERS);

export function violations(tree: Tree): string[] {
  const code = [...tree].filter(([path]) => isCode(path));
  const edges = code.flatMap(([from, source]) => importsOf(from, source).map((found) => ({ from, ...found })));
  const inside = edges.filter(({ from }) => !isTest(from));
  return [
    ...inside.flatMap((edge) => [...direction(edge), ...packages(edge)]),
    ...edges.flatMap((edge) => missing(edge, tree)),
    ...cycles(inside),
    ...code.flatMap(([path, source]) => [...size(path, source), ...exportsOf(path, source)]),
    ...[...tree].flatMap(([path, text]) => machine(path, text)),
  ];
}

/** Rooms that a room may use besides itself; `undefined` for rooms the house does not know. */
function below(room: string): readonly string[] | undefined {
  const floor = capabilities.indexOf(room);
  if (floor >= 0) return [...ground, ...capabilities.slice(0, floor)];
  if (room === 'lib/names.ts') return [];
  if (room === 'lib/kernel' || adapters.includes(room)) return room === 'lib/kernel' ? ['lib/names.ts'] : ground;
  if (room === 'lib/middleware') return [...ground, 'lib/observe'];
  if (room === 'lib/http') return [...ground, ...capabilities, 'lib/observe', 'lib/middleware'];
  if (room === 'lib/compose') return [...ground, ...capabilities, ...adapters, 'lib/middleware', 'lib/http'];
  if (room === 'functions')
    return [...ground, ...capabilities, 'lib/observe', 'lib/middleware', 'lib/http', 'lib/compose'];
  if (room === 'cdk' || room === 'local') return ['lib/names.ts'];
  return undefined;
}

const FREE = new Set(['scripts', 'bench', 'vitest.config.ts']);

function direction({ from, file }: Edge): string[] {
  if (file === undefined) return [];
  const [room, target] = [roomOf(from), roomOf(file)];
  if (room === target)
    return room === 'functions' && file.split('/')[1] !== from.split('/')[1]
      ? [`${from}: one function imports another, ${file}`]
      : [];
  if (target === 'test') return [`${from}: imports from the tests, ${file}`];
  if (FREE.has(room)) return [];
  const allowed = below(room);
  if (allowed === undefined) return [`${from}: no floor for the room ${room} (test/architecture/floors.ts)`];
  if (adapters.includes(room) && (PORT_FILES as readonly string[]).includes(file)) return [];
  if (BESIDES[room]?.includes(file)) return [];
  return allowed.includes(target) ? [] : [`${from}: ${room} may not import ${file}`];
}

function packages({ from, specifier, file }: Edge): string[] {
  const room = roomOf(from);
  const allowed =
    PACKAGES[room] ?? PACKAGES[`lib/${room}`] ?? (capabilities.includes(room) ? CAPABILITY_PACKAGES : undefined);
  if (file !== undefined || allowed === undefined || allowed.some((pattern) => pattern.test(specifier))) return [];
  return [`${from}: ${room} may not import ${specifier}`];
}

function missing({ from, file, specifier }: Edge, tree: Tree): string[] {
  if (file === undefined || tree.has(file)) return [];
  return [`${from}: ${specifier} does not exist (imports name the file with its ending)`];
}

/** Cycles that exist at run time, each once, from its first file in the alphabet. */
function cycles(edges: readonly Edge[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, file, typeOnly } of edges) {
    if (file !== undefined && !typeOnly) next.set(from, [...(next.get(from) ?? []), file]);
  }
  const done = new Set<string>();
  const found = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.add(turned(trail.slice(start)));
    if (start >= 0 || done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) visit(path, []);
  return [...found].map((cycle) => `import cycle: ${cycle}`);
}

function turned(cycle: readonly string[]): string {
  const first = cycle.indexOf(cycle.toSorted()[0] ?? '');
  const ring = [...cycle.slice(first), ...cycle.slice(0, first)];
  return [...ring, ring[0]].join(' → ');
}

function size(path: string, source: string): string[] {
  const lines = source.trimEnd().split('\n').length;
  const handler = /^functions\/[^/]+\/handler\.ts$/.test(path);
  const most = isTest(path) ? MOST_LINES.test : handler ? MOST_LINES.handler : MOST_LINES.source;
  return lines > most ? [`${path}: ${lines} lines, at most ${most}`] : [];
}

function exportsOf(path: string, source: string): string[] {
  if (path === 'vitest.config.ts') return []; // vitest asks for one
  return /^export default\b|^export \{[^}]*\bas default\b/m.test(source) ? [`${path}: has a default export`] : [];
}

/** Put together from parts, so that this file passes its own check. */
const HOMES = ['work', 'farm', 'home', 'root', 'Users'].join('|');
const MACHINE_PATH = new RegExp(`(^|[^\\w.~/-])/(${HOMES})/[\\w.-]+`);
const DOWNLOAD = new RegExp(`"resolved": "ht${'tp'}`);

function machine(path: string, text: string): string[] {
  const at = text.split('\n').findIndex((line) => MACHINE_PATH.test(line));
  return [
    ...(at >= 0 ? [`${path}:${at + 1}: holds a path of one machine`] : []),
    ...(path.endsWith('package-lock.json') && DOWNLOAD.test(text) ? [`${path}: holds download addresses`] : []),
  ];
}
