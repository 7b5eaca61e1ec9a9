/** Reads imports out of TypeScript by text. Good for this house's style: one statement a line, semicolons, no tricks. */
import { dirname, join, normalize } from 'node:path/posix';

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** Path from the root for relative imports, else `undefined`. */
  readonly file: string | undefined;
  /** Gone at run time. */
  readonly typeOnly: boolean;
}

const STATEMENT = /^[ \t]*(?:import|export)\s+(type\s+)?(?:([^'"`;]*?)\s*from\s*)?['"]([^'"\n]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"\n]+)['"]\s*\)/g;

export function importsOf(path: string, source: string): Import[] {
  const resolved = (specifier: string) =>
    specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : undefined;
  const code = withoutComments(source);
  const statements = [...code.matchAll(STATEMENT)].map(([, type, names, specifier = '']) => ({
    specifier,
    file: resolved(specifier),
    typeOnly: type !== undefined || everyNameIsType(names),
  }));
  const dynamic = [...code.matchAll(DYNAMIC)].map(([, specifier = '']) => ({
    specifier,
    file: resolved(specifier),
    typeOnly: false,
  }));
  return [...statements, ...dynamic];
}

function everyNameIsType(names: string | undefined): boolean {
  const list = /^\{([^}]*)\}$/.exec(names?.trim() ?? '')?.[1];
  const parts =
    list
      ?.split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '') ?? [];
  return parts.length > 0 && parts.every((name) => name.startsWith('type '));
}

/** Whole-line comments only: `//` inside a text is no comment, and an import never stands behind code. */
function withoutComments(source: string): string {
  return source.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, '').replace(/^[ \t]*\/\/.*$/gm, '');
}

/** The room a file is in: `lib/<name>`, or the top-level folder. */
export function roomOf(path: string): string {
  const [top = '', second] = path.split('/');
  return top === 'lib' && second !== undefined ? `lib/${second}` : top;
}
