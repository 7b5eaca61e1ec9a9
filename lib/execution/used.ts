/** What a run has used, by model and by tool: one compact text in the row of the run. Pure. */
import * as z from 'zod';

/** Calls and tokens of one model; money in micro-dollars. `input` contains `cached`. */
export interface ModelUse {
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cost: number;
}

/** Calls of one tool; `errors` are those that failed or whose outcome is unknown. */
export interface ToolUse {
  readonly calls: number;
  readonly errors: number;
}

/** By name. The first model is the one that was used last: what is booked without a reply is booked to it. */
export interface Used {
  readonly models: ReadonlyMap<string, ModelUse>;
  readonly tools: ReadonlyMap<string, ToolUse>;
}

export const NOTHING_USED: Used = { models: new Map(), tools: new Map() };

/** Names that have no room of their own. */
export const OTHER = 'other';

/**
 * Bytes of all names together, each with the room that its figures need in the end. Every step writes the row of its run
 * twice and pays for each started KB; the other attributes need the rest.
 */
const ROOM = 230;
const LONGEST_NAME = 48;
/** Of base 36: five figures of a model up to 10^9, two of a tool up to 10^6, and what stands between them. */
const MODEL_ROOM = 30;
const TOOL_ROOM = 8;

const text36 = (figure: number): string => figure.toString(36);

/** `name,figure,…`: the name encoded, the figures in base 36 and without zeros at the end. */
const partOf = (name: string, figures: readonly number[]): string => {
  const last = figures.findLastIndex((figure) => figure !== 0);
  return [encodeURIComponent(name), ...figures.slice(0, last + 1).map(text36)].join(',');
};

interface Part {
  readonly name: string;
  readonly numbers: readonly number[];
}

/** By hand, as every read of an execution row comes through here. @returns `undefined` for text that is no such part */
const readPart = (text: string, most: number): Part | undefined => {
  const [name = '', ...figures] = text.split(',');
  if (name === '' || figures.length > most) return undefined;
  const numbers: number[] = [];
  for (const figure of figures) {
    const number = /^[0-9a-z]{1,11}$/.test(figure) ? Number.parseInt(figure, 36) : Number.NaN;
    if (!Number.isSafeInteger(number)) return undefined;
    numbers.push(number);
  }
  try {
    return { name: decodeURIComponent(name), numbers };
  } catch {
    return undefined; // no encoded name
  }
};

const readParts = (text: string, most: number): readonly Part[] | undefined => {
  if (text === '') return [];
  const parts: Part[] = [];
  for (const each of text.split(';')) {
    const part = readPart(each, most);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts;
};

const [MODEL_FIGURES, TOOL_FIGURES] = [5, 2];

/** The text as an attribute holds it, read. */
export const usageText = z.string().transform((text, context): Used => {
  const [models = '', tools = '', ...more] = text.split('|');
  const read = readParts(models, MODEL_FIGURES);
  const called = readParts(tools, TOOL_FIGURES);
  if (more.length === 0 && read !== undefined && called !== undefined) {
    return {
      models: new Map(
        read.map(({ name, numbers: [calls = 0, input = 0, output = 0, cached = 0, cost = 0] }) => [
          name,
          { calls, input, output, cached, cost },
        ]),
      ),
      tools: new Map(called.map(({ name, numbers: [calls = 0, errors = 0] }) => [name, { calls, errors }])),
    };
  }
  context.addIssue({ code: 'custom', message: 'no figures of usage' });
  return z.NEVER;
});

/** By model, a bar, and by tool; parts are separated by semicolons. */
export const usageTextOf = ({ models, tools }: Used): string => {
  const byModel = [...models].map(([name, use]) =>
    partOf(name, [use.calls, use.input, use.output, use.cached, use.cost]),
  );
  const byTool = [...tools].map(([name, use]) => partOf(name, [use.calls, use.errors]));
  return byTool.length === 0 ? byModel.join(';') : `${byModel.join(';')}|${byTool.join(';')}`;
};

const bytesOf = (name: string): number => encodeURIComponent(name).length;

/** Cut by bytes as they are stored, between characters. */
const short = (name: string): string => {
  let text = '';
  for (const character of name.toWellFormed()) {
    if (bytesOf(text + character) > LONGEST_NAME) break;
    text += character;
  }
  return text === '' ? OTHER : text;
};

const NO_MODEL_USE: ModelUse = { calls: 0, input: 0, output: 0, cached: 0, cost: 0 };
const NO_TOOL_USE: ToolUse = { calls: 0, errors: 0 };

export const startingWith = (model: string): Used => ({
  models: new Map([[short(model), NO_MODEL_USE]]),
  tools: new Map(),
});

export const plusModel = (one: ModelUse, other: ModelUse): ModelUse => ({
  calls: one.calls + other.calls,
  input: one.input + other.input,
  output: one.output + other.output,
  cached: one.cached + other.cached,
  cost: one.cost + other.cost,
});

/** One more call of a model; it stands first from then on. */
export const withCall = (used: Used, model: string, use: ModelUse): Used => {
  const known = short(model);
  const fits = used.models.has(known) || hasRoom(used, { model: known });
  const name = fits ? known : OTHER;
  const before = used.models.get(name) ?? NO_MODEL_USE;
  const rest = [...used.models].filter(([each]) => each !== name);
  return { ...used, models: new Map([[name, plusModel(before, use)], ...rest]) };
};

export const withTool = (used: Used, tool: string, use: ToolUse): Used => {
  const known = short(tool);
  const name = used.tools.has(known) || hasRoom(used, { tool: known }) ? known : OTHER;
  const before = used.tools.get(name) ?? NO_TOOL_USE;
  const after = { calls: before.calls + use.calls, errors: before.errors + use.errors };
  return { ...used, tools: new Map([...used.tools, [name, after]]) };
};

/** Whether one more name still fits; the first model always does. */
const hasRoom = (used: Used, { model, tool }: { readonly model?: string; readonly tool?: string }): boolean => {
  if (model !== undefined && used.models.size === 0) return true;
  const models = [...used.models.keys(), ...(model === undefined ? [] : [model])];
  const tools = [...used.tools.keys(), ...(tool === undefined ? [] : [tool])];
  const taken =
    models.reduce((sum, name) => sum + bytesOf(name) + MODEL_ROOM, 0) +
    tools.reduce((sum, name) => sum + bytesOf(name) + TOOL_ROOM, 0);
  return taken <= ROOM;
};
