import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** A fenced block: the words after the fence and the lines inside. */
export interface Block {
  readonly info: readonly string[];
  readonly text: string;
}

export const blocksOf = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({
    info: info.trim().split(/\s+/),
    text,
  }));

/** Rows of the first table below a heading, cells trimmed, the header left out. */
export const tableBelow = (markdown: string, heading: string): readonly (readonly string[])[] => {
  const section = markdown.slice(markdown.indexOf(`\n${heading}\n`) + 1);
  const table = /(?:^\|.*\|\n)+/m.exec(section)?.[0] ?? '';
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
};

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Every Markdown file that people read, from the root. */
export const documents = (): readonly string[] => {
  const under = (folder: string): string[] =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return [...readdirSync(ROOT), ...under('docs')].filter((name) => name.endsWith('.md')).toSorted();
};
