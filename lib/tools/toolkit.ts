import { appendFile } from './append-file.ts';
import { askUser } from './ask-user.ts';
import { deleteFile } from './delete-file.ts';
import { finish } from './finish.ts';
import { httpRequest } from './http-request.ts';
import { listFilesTool } from './list-files.ts';
import { nearest } from './near.ts';
import { readFile } from './read-file.ts';
import { runAgent } from './run-agent.ts';
import { think } from './think.ts';
import type { Tool } from './tool.ts';
import { wait } from './wait.ts';
import { writeFile } from './write-file.ts';

/** Every tool there is, in the order they are offered. */
export const allTools: readonly Tool[] = [
  finish,
  think,
  writeFile,
  appendFile,
  readFile,
  listFilesTool,
  deleteFile,
  httpRequest,
  askUser,
  wait,
  runAgent,
];

export interface ToolSelection {
  readonly tools: readonly Tool[];
  /** Names that are no tool, in the order given. */
  readonly unknown: readonly string[];
  /** A sentence about them with what is available; present when there are any. */
  readonly problem?: string;
}

/**
 * The tools that a configuration names; all of them but those that must be named when it names none. `finish` is always among them, because a run
 * must be able to say that it is done.
 */
export const findTools = (names: readonly string[] | undefined): ToolSelection => {
  if (names === undefined) return { tools: allTools.filter((tool) => tool.named !== true), unknown: [] };
  const known = allTools.map(({ name }) => name);
  const tools = allTools.filter((tool) => tool === finish || names.includes(tool.name));
  const unknown = [...new Set(names)].filter((name) => !known.includes(name));
  if (unknown.length === 0) return { tools, unknown };
  return { tools, unknown, problem: `${unknown.map((name) => noSuch(name, known)).join(' ')} ${available(known)}` };
};

/** Exact match only; a near miss gets a suggestion, because calling what somebody might have meant is no safe guess. */
export const findTool = (
  name: string,
  tools: readonly Tool[],
): { readonly ok: true; readonly tool: Tool } | { readonly ok: false; readonly problem: string } => {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return { ok: true, tool };
  return {
    ok: false,
    problem: unknownTool(
      name,
      tools.map((candidate) => candidate.name),
    ),
  };
};

const noSuch = (name: string, known: readonly string[]): string => {
  const near = nearest(name, known);
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  return `There is no tool ${JSON.stringify(name.slice(0, 64))}.${meant}`;
};

const available = (known: readonly string[]): string => `Available: ${known.join(', ')}.`;

const unknownTool = (name: string, known: readonly string[]): string => `${noSuch(name, known)} ${available(known)}`;
