/** Bundles all functions in one esbuild call. See docs/adr/0010-one-esbuild-call.md. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { FUNCTIONS, type FunctionName } from '../lib/names.ts';
import { withoutIdleParts } from './idle-parts.ts';

export interface Bundles {
  /** Folder of each function's code: `index.mjs` and its source map. */
  readonly folders: { readonly [name in FunctionName]: string };
  /** What went into which bundle, for tests and size reports. */
  readonly metafile: Metafile;
}

export interface BundleOptions {
  /** The project's root: holds `functions/` and `node_modules/`. */
  readonly root: string;
  /** Where the folders go; each function's is `<out>/<name>/`. */
  readonly out: string;
}

/**
 * Same sources, same bytes: source paths in the maps are relative to the root (the output folder esbuild is told of is
 * imaginary), and files that have not changed are not touched, so two processes may bundle at once.
 *
 * @throws Error listing the handlers that do not exist, or esbuild's own messages
 */
export async function bundle({ root, out }: BundleOptions): Promise<Bundles> {
  const missing = FUNCTIONS.filter((name) => !existsSync(join(root, source(name))));
  if (missing.length > 0) {
    throw new Error(`no handler to bundle: ${missing.map(source).join(', ')} (FUNCTIONS in lib/names.ts lists them)`);
  }
  const imaginary = resolve(root, 'bundles');
  const result = await build({
    absWorkingDir: root,
    entryPoints: FUNCTIONS.map((name) => ({ in: source(name), out: `${name}/index` })),
    outdir: imaginary,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    // Log lines and stack traces name classes and functions; an error called "e" helps nobody.
    keepNames: true,
    sourcemap: 'linked',
    // Positions are enough for a stack trace; the sources themselves would triple the package.
    sourcesContent: false,
    plugins: [builtinsForCommonJs, ...withoutIdleParts],
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const files = result.outputFiles.map((file) => ({ path: relative(imaginary, file.path), contents: file.contents }));
  for (const name of FUNCTIONS) removeOthers(join(out, name), new Set(files.map((file) => file.path)), out);
  for (const file of files) writeIfChanged(join(out, file.path), file.contents);
  return {
    folders: Object.fromEntries(FUNCTIONS.map((name) => [name, join(out, name)])) as Record<FunctionName, string>,
    metafile: result.metafile,
  };
}

/**
 * undici is CommonJS and says `require('node:net')`, which does not exist in an ES module. This asks the process for the
 * built-in module instead. A `createRequire` banner would do as well, but it would also let a `require` of a package that
 * was left out of the bundle through until it runs; so the test that imports every bundle still finds those.
 */
const builtinsForCommonJs: Plugin = {
  name: 'builtins-for-commonjs',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(node:)?(${builtinModules.join('|')})$`) }, ({ kind, path }) =>
      kind === 'require-call' ? { path, namespace: 'builtin' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

function source(name: FunctionName): string {
  return `functions/${name}/handler.ts`;
}

/** A file of an earlier build that this one does not make would change the asset's hash. */
function removeOthers(folder: string, kept: ReadonlySet<string>, out: string): void {
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(folder)) {
    const path = join(folder, entry);
    if (!kept.has(relative(out, path))) rmSync(path, { recursive: true });
  }
}

/** Whole or not at all: another process may be reading the folder. */
function writeIfChanged(path: string, contents: Uint8Array): void {
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  const temporary = join(dirname(dirname(path)), `${basename(dirname(path))}-${basename(path)}.${process.pid}.writing`);
  writeFileSync(temporary, contents);
  renameSync(temporary, path);
}
