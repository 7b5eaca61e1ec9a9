/** Placeholders of prompts. */

export const PLACEHOLDERS = ['goals', 'instructions', 'constraints', 'task', 'pending', 'completed', 'last'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** What stands for the placeholders. Texts and lists may be of any length; they are cut here. */
export interface PromptValues {
  readonly goals: readonly string[];
  readonly instructions: readonly string[];
  readonly constraints: readonly string[];
  /** The task that is worked on. */
  readonly task?: string | undefined;
  readonly pending: readonly string[];
  /** In the order in which they were done. */
  readonly completed: readonly string[];
  /** The last step's result. */
  readonly last?: string | undefined;
}

/** Figures of the cuts: a prompt must stay within a small window, whatever a tool gave back. */
const MOST_LAST = 8_000; // characters
export const MOST_ENTRIES = 50;
const MOST_ENTRY = 500; // characters

const NONE = '(none)';

/** The beginning and the end: results often say at the end what came of it. */
const middleCut = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`;
};

/** An entry of a list as a prompt shows it. */
export const lineCut = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= MOST_ENTRY ? line : `${line.slice(0, MOST_ENTRY)} […]`;
};

const numbered = (entries: readonly string[]): string =>
  entries.map((entry, index) => `${index + 1}. ${entry}`).join('\n') || NONE;

/** Pending tasks: the next ones count. */
const upcoming = (entries: readonly string[]): string => {
  const more = entries.length - MOST_ENTRIES;
  return `${numbered(entries.slice(0, MOST_ENTRIES).map(lineCut))}${more > 0 ? `\n… and ${more} more` : ''}`;
};

/** Completed tasks: the latest ones count. */
const past = (entries: readonly string[]): string => {
  const earlier = entries.length - MOST_ENTRIES;
  const shown = numbered(entries.slice(-MOST_ENTRIES).map(lineCut));
  return earlier > 0 ? `(${earlier} earlier ones are left out)\n${shown}` : shown;
};

const textFor = (name: Placeholder, values: PromptValues): string => {
  switch (name) {
    case 'goals':
    case 'instructions':
    case 'constraints':
      return numbered(values[name]);
    case 'task':
      return middleCut(values.task?.trim() || NONE, MOST_LAST);
    case 'pending':
      return upcoming(values.pending);
    case 'completed':
      return past(values.completed);
    case 'last':
      return middleCut(values.last?.trim() || NONE, MOST_LAST);
  }
};

/** `{{word}}` stands for the text `{word}` itself. */
const BRACED = /\{\{([a-zA-Z_]{1,40})\}\}|\{([a-zA-Z_]{1,40})\}/g;

const placeholderNamed = (name: string | undefined): Placeholder | undefined =>
  PLACEHOLDERS.find((known) => known === name);

/** Names in single braces, known or not, in the order of their appearance. */
export const bracedNames = (template: string): readonly string[] =>
  [...template.matchAll(BRACED)].flatMap(([, , name]) => (name === undefined ? [] : [name]));

/** Puts values in the place of `{placeholders}`, once: braces inside a value stay as they are. */
export const render = (template: string, values: PromptValues): string =>
  template.replace(BRACED, (whole, literal: string | undefined, name: string | undefined) => {
    if (literal !== undefined) return `{${literal}}`;
    const known = placeholderNamed(name);
    return known === undefined ? whole : textFor(known, values);
  });
