/**
 * Replies that must have a form: a list of tasks, the label of an edge. The form is asked for by JSON Schema, and read
 * with patience, because not every server keeps to a schema. What cannot be read gives a sentence for the one repair round.
 */
import { MOST_TASKS } from './definition.ts';
import { plainLabel } from './edges.ts';

/** A form as a request carries it. Strict mode allows no other members and no optional ones. */
export interface OutputSchema {
  readonly name: string;
  readonly schema: { readonly [key: string]: unknown };
}

/**
 * `problem` is told to the model. `beyond`, for a person: what was read and is more than is allowed. It is never cut to
 * what is: who reads "all tasks are done" must not find some that nobody has seen.
 */
export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string; readonly beyond?: string | undefined };

/** @param most how many tasks a reply may give */
export const tasksOutput = (most: number): OutputSchema => ({
  name: 'tasks',
  schema: {
    type: 'object',
    properties: {
      tasks: {
        type: 'array',
        items: { type: 'string' },
        maxItems: most,
        description: `One sentence each, in the order to do them, at most ${most}.`,
      },
    },
    required: ['tasks'],
    additionalProperties: false,
  },
});

/** @param labels as `labelsOf` gives them, at least one */
export const choiceOutput = (labels: readonly string[]): OutputSchema => ({
  name: 'choice',
  schema: {
    type: 'object',
    properties: { label: { type: 'string', enum: [...labels] } },
    required: ['label'],
    additionalProperties: false,
  },
});

/** The sentence that ends a prompt for tasks; for servers that ignore the schema. */
export const tasksForm = (most: number): string =>
  `Answer with JSON of the form {"tasks": ["first task", "second task"]}, at most ${most} of them, and nothing else.`;

/** The sentence that ends a prompt for a choice. */
export const choiceForm = (labels: readonly string[]): string =>
  `Answer with JSON of the form {"label": "…"}, and nothing else. The label is one of: ${labels.join(', ')}.`;

const MOST_TEXT = 1_200_000; // characters of a reply that are looked at: as many tasks as there may be, as long as they may be
/** Longest task, characters: a row holds them, and each prompt shows them again. */
const LONGEST_TASK = 2_000;

const parsed = (text: string): { readonly json: unknown } | undefined => {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
};

/** From the first opening bracket to the last closing one: words before and after JSON are dropped. */
const between = (text: string, open: string, close: string): { readonly json: unknown } | undefined => {
  const from = text.indexOf(open);
  const to = text.lastIndexOf(close);
  return from === -1 || to <= from ? undefined : parsed(text.slice(from, to + 1));
};

/** The JSON value in a reply: bare, in a fence, or in the middle of words. */
const jsonIn = (reply: string): { readonly json: unknown } | undefined => {
  const text = reply.slice(0, MOST_TEXT).trim();
  const fenced = /```[a-zA-Z]*\s([^`]*)```/.exec(text)?.[1];
  const arrayFirst = text.indexOf('[') !== -1 && (text.indexOf('{') === -1 || text.indexOf('[') < text.indexOf('{'));
  const wide = arrayFirst ? between(text, '[', ']') : between(text, '{', '}');
  return parsed(text) ?? (fenced === undefined ? undefined : parsed(fenced.trim())) ?? wide ?? between(text, '[', ']');
};

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list by any of the names that models give it; the only list when there is just one. */
const listIn = (value: unknown): readonly unknown[] | undefined => {
  if (Array.isArray(value)) return value;
  if (!isRecord(value)) return undefined;
  if (Array.isArray(value.tasks)) return value.tasks;
  const lists = Object.values(value).filter((inner): inner is unknown[] => Array.isArray(inner));
  return lists.length === 1 ? lists[0] : undefined;
};

/** A task as text: a string, or an object with one telling member. */
const taskIn = (entry: unknown): string | undefined => {
  if (typeof entry === 'string') return entry;
  if (!isRecord(entry)) return undefined;
  const { task, title, name, description } = entry;
  return [task, title, name, description].find((text): text is string => typeof text === 'string');
};

/** How many tasks a reply may give, and how many wait already where that is why. */
export interface Room {
  readonly most: number;
  readonly waiting?: number | undefined;
}

/** Blank ones are dropped; more, or longer ones, than there is room for are refused. */
const fitting = (texts: readonly string[], { most, waiting = 0 }: Room): Read<readonly string[]> => {
  const tasks = texts.map((text) => text.trim()).filter((text) => text !== '');
  const long = tasks.findIndex((task) => task.length > LONGEST_TASK);
  if (tasks.length > most) {
    const why = waiting === 0 ? '' : `, because ${waiting} wait already and a list holds ${MOST_TASKS}`;
    return beyond(`the reply lists ${tasks.length} tasks, and at most ${most} are allowed${why}`, most);
  }
  if (long !== -1) {
    const characters = tasks[long]?.length;
    return beyond(`task ${long + 1} has ${characters} characters, and at most ${LONGEST_TASK} are allowed`, most);
  }
  return { ok: true, value: tasks };
};

const beyond = (what: string, most: number): Read<never> => {
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}.`;
  return { ok: false, problem: `${sentence} ${tasksForm(most)}`, beyond: what };
};

/** The tasks of a reply, blank ones dropped, each at most 2,000 characters. An empty list is a good answer. */
export const readTasks = (reply: string, room: Room = { most: MOST_TASKS }): Read<readonly string[]> => {
  const form = tasksForm(room.most);
  if (reply.length > MOST_TEXT) {
    return beyond(`the reply has ${reply.length} characters, and at most ${MOST_TEXT} are read`, room.most);
  }
  const found = jsonIn(reply);
  if (found === undefined) return no(`The reply held no JSON. ${form}`);
  const list = listIn(found.json);
  if (list === undefined) return no(`The reply held JSON, but no list of tasks. ${form}`);
  const texts = list.flatMap((entry) => taskIn(entry) ?? []);
  const odd = list.findIndex((entry) => taskIn(entry) === undefined);
  return odd === -1 ? fitting(texts, room) : no(`Entry ${odd + 1} of the list is not a text. ${form}`);
};

const BULLET = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/;

/**
 * Tasks out of words, after two answers without a form: the lines of a list.
 * @param otherwise what words that are no list come to
 */
export const tasksInWords = (text: string, room: Room, otherwise: readonly string[]): Read<readonly string[]> => {
  const listed = text
    .split('\n')
    .filter((line) => BULLET.test(line))
    .map((line) => line.replace(BULLET, '').trim())
    .filter((line) => line !== '');
  return fitting(listed.length > 0 ? listed : otherwise, room);
};

const no = (problem: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem });

const labelNamed = (labels: readonly string[], text: string): string | undefined =>
  labels.find((label) => plainLabel(label) === plainLabel(text));

/** The words of a choice: the member `label`, or the only text of an object, or the text itself. */
const wordIn = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'YES' : 'NO';
  if (Array.isArray(value)) return value.length === 1 ? wordIn(value[0]) : undefined;
  if (!isRecord(value)) return undefined;
  if (value.label !== undefined) return wordIn(value.label);
  const texts = Object.values(value).map(wordIn);
  return texts.length === 1 ? texts[0] : undefined;
};

/** "Yes, it matches." – the label that the reply begins with, if just one does. */
const labelAhead = (labels: readonly string[], reply: string): string | undefined => {
  const text = plainLabel(reply);
  const ahead = labels.filter((label) => {
    const plain = plainLabel(label);
    return text.startsWith(plain) && !/^[a-z0-9_-]/.test(text.slice(plain.length));
  });
  // Of "no" and "no answer" the longer one is meant.
  return ahead.sort((a, b) => b.length - a.length)[0];
};

/**
 * The label that a reply chooses, as it is written in `labels`.
 * @param labels as `labelsOf` gives them
 */
export const readChoice = (reply: string, labels: readonly string[]): Read<string> => {
  const found = jsonIn(reply);
  const word = found === undefined ? undefined : wordIn(found.json);
  const label =
    (word === undefined ? undefined : labelNamed(labels, word)) ??
    labelNamed(labels, reply) ??
    labelAhead(labels, reply);
  if (label !== undefined) return { ok: true, value: label };
  return no(`The reply chose none of the labels. ${choiceForm(labels)}`);
};
