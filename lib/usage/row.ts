/**
 * A usage row: what the runs of one agent in one project have used on one day. Its totals are attributes by their names; the
 * part of a model or tool is `<m or t><letter of the figure>#<name>`. Such a prefix has a fixed length and no total looks
 * like it, so that a name may hold anything and stands as it is: encoded, it would be stored up to six times at up to three
 * times its length, and each started KB of a row costs every roll-up two write units.
 */
import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { parseUsageSk } from '../kernel/keys.ts';
import { add, type Change, type Item } from '../kernel/table.ts';
import { type Dimension, FIGURES, type Figures, NO_FIGURES, type Share, type Spread } from './figures.ts';

export const USAGE_VERSION = 1;

const LETTERS: { readonly [figure in keyof Figures]: string } = {
  runs: 'r',
  calls: 'n',
  input: 'i',
  output: 'o',
  cached: 'h',
  cost: 'c',
  ms: 'm',
  errors: 'e',
};
const figureOf = new Map(FIGURES.map((figure) => [LETTERS[figure], figure]));

const isSome = (figures: Figures): boolean => FIGURES.some((figure) => figures[figure] !== 0);

const partsOf = (kind: 'm' | 't', parts: ReadonlyMap<string, Figures>): readonly Change[] =>
  [...parts].flatMap(([name, figures]) =>
    FIGURES.filter((figure) => figures[figure] !== 0).map((figure) =>
      add(`${kind}${LETTERS[figure]}#${name}`, figures[figure]),
    ),
  );

/** The changes that add a share to its row; none where there is nothing to add. */
export const additionsOf = ({ all, models, tools }: Share): readonly Change[] => [
  ...FIGURES.filter((figure) => all[figure] !== 0).map((figure) => add(figure, all[figure])),
  ...partsOf('m', models),
  ...partsOf('t', tools),
];

const total = z.int().default(0);
const rowSchema = z.object({
  v: z.literal(USAGE_VERSION),
  runs: total,
  calls: total,
  input: total,
  output: total,
  cached: total,
  cost: total,
  ms: total,
  errors: total,
});

export interface UsageRow extends Spread {
  readonly day: string;
  readonly agentId: string;
  readonly projectId: string;
}

/** @throws UnreadableRow */
export const readUsage = (item: Item): UsageRow => {
  const parsed = rowSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  const of = parseUsageSk(item.sk);
  if (of === undefined) throw new UnreadableRow(item, 'the key of a usage row was expected');
  const { v: _, ...all } = parsed.data;
  const parts = { m: new Map<string, Figures>(), t: new Map<string, Figures>() };
  for (const [attribute, value] of Object.entries(item)) {
    const [kind, letter = '', mark] = attribute;
    const figure = figureOf.get(letter);
    if ((kind !== 'm' && kind !== 't') || figure === undefined || mark !== '#') continue;
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
      throw new UnreadableRow(item, `${attribute} is no whole number`);
    }
    const name = attribute.slice(3);
    parts[kind].set(name, { ...(parts[kind].get(name) ?? NO_FIGURES), [figure]: value });
  }
  return { ...of, all, models: parts.m, tools: parts.t };
};

/** What a row says of a dimension, by key. */
export const figuresBy = (row: UsageRow, by: Dimension): Iterable<readonly [string, Figures]> => {
  if (by === 'model') return row.models;
  if (by === 'tool') return row.tools;
  const key = { day: row.day, agent: row.agentId, project: row.projectId }[by];
  return isSome(row.all) ? [[key, row.all]] : [];
};
