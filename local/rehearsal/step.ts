import { type Conversation, eventsOf, listedPaths, type WireMessage } from './conversation.ts';
import type { Reply } from './plan.ts';

/**
 * What the rehearsal model says where a workflow asks for one thing: a form to fill in, or a call of one of a few tools.
 * Plain rules on the words of the request, so that every built-in workflow can be watched from its start to its end.
 */

const words = (messages: readonly WireMessage[]): string => messages.map(({ content }) => content).join('\n');

/** The numbered lines below the last heading of this name. */
const listed = (text: string, heading: string): readonly string[] => {
  const below = text.split(`${heading}:\n`).at(-1);
  if (below === undefined || below === text) return [];
  const block = below.split('\n\n')[0] ?? '';
  return block.split('\n').flatMap((line) => /^\d+\. (.+)$/.exec(line)?.[1] ?? []);
};

const MOST_TASKS = 3;

/** Tasks that wait stay as they are, files are taken one by one, else each goal is a task. */
const tasksFor = (conversation: Conversation): readonly string[] => {
  const text = words(conversation.messages);
  if (/Tasks that are waiting:/.test(text)) return /add none/.test(text) ? listed(text, 'Tasks that are waiting') : [];
  const paths = listedPaths(text);
  return (paths.length > 0 ? paths : listed(text, 'Goals')).slice(0, MOST_TASKS);
};

const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fills in a form: lists with tasks, choices with their first label. */
export const fillForm = (form: { readonly [name: string]: unknown }, conversation: Conversation): string => {
  const properties = isRecord(form.properties) ? form.properties : {};
  const filled = Object.entries(properties).map(([name, schema]): readonly [string, unknown] => {
    if (!isRecord(schema)) return [name, null];
    if (schema.type === 'array') return [name, tasksFor(conversation).slice(0, Number(schema.maxItems ?? Infinity))];
    return [name, Array.isArray(schema.enum) ? (schema.enum[0] ?? '') : '(rehearsal)'];
  });
  return JSON.stringify(Object.fromEntries(filled));
};

/** The file that the step names: in words like `outbox/x.md`, `spec.md`. */
const pathIn = (text: string, otherwise: string): string =>
  /\b((?:[\w-]+\/)*[\w-]+\.(?:md|csv|txt|json|js|ts|py))\b/.exec(text)?.[1] ?? otherwise;

const ARGUMENTS: { readonly [tool: string]: (text: string) => { readonly [name: string]: unknown } } = {
  list_files: () => ({}),
  read_file: (text) => ({ path: pathIn(text, 'notes.md') }),
  write_file: (text) => ({
    path: pathIn(text, 'notes.md'),
    content: `# Written by the rehearsal model\n\n${text.slice(0, 1_000)}\n`,
  }),
  think: (text) => ({ thought: text.slice(0, 500) }),
};

/**
 * One call where `finish` is not offered: the step is about that call alone. The first tool that it knows arguments for;
 * within a task a file of the task's own, then words, so that the task is done.
 */
export const oneCall = (conversation: Conversation): Reply => {
  const { messages, tools } = conversation;
  const text = messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => content)
    .join('\n');
  const name = ['write_file', 'read_file', 'list_files', 'think'].find((tool) => tools.includes(tool));
  const args = name === undefined ? undefined : ARGUMENTS[name]?.(text);
  if (name === undefined || args === undefined) {
    return { content: '(rehearsal) This step needs a real model.', calls: [] };
  }
  const failed = eventsOf(conversation).filter((event) => event.name === name && !event.ok).length;
  if (failed >= 2) return { content: '(rehearsal) The call failed twice; that is all there is to tell.', calls: [] };
  return { content: `(rehearsal) This step calls ${name}.`, calls: [{ name, args }] };
};
