/** Loaded before everything else of a mutant: the modules that are loaded after it lack what `UNGUARDED` takes out of them. */
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** An edit that takes a guard out of a file, named from the root of the project. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

const ROOT = resolve(import.meta.dirname, '../..');
const edits = JSON.parse(process.env.UNGUARDED ?? '[]') as readonly Edit[];
const left = Map.groupBy(edits, ({ file }) => pathToFileURL(resolve(ROOT, file)).href);

const without = (source: string, { file, find, put }: Edit): string => {
  if (source.split(find).length !== 2) throw new Error(`${file} does not hold the guard exactly once: ${find}`);
  return source.replace(find, () => put);
};

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const here = left.get(url);
    if (here === undefined) return loaded;
    left.delete(url);
    return { ...loaded, source: here.reduce(without, String(loaded.source)) };
  },
});

/** A guard that nothing loads says nothing, whatever was found. */
const NOT_LOADED = 3;
process.once('exit', () => {
  if (left.size === 0) return;
  console.error(`Not loaded: ${[...left.keys()].join(', ')}`);
  process.exitCode = NOT_LOADED;
});
