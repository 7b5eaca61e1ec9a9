/** SuperAGI's words for what Baton calls otherwise, as tables. */
import type { Status } from '../execution/status.ts';
import { AppError, badRequest } from '../kernel/errors.ts';
import { TOOLKITS } from '../tools/toolkits.ts';

/** Its toolkits with its names of their tools. Those that Baton has no tools for yet are not here. */
export const TOOLKIT_TABLE: { readonly [toolkit: string]: { readonly [tool: string]: string } } = {
  'File Toolkit': {
    'Append File': 'append_file',
    'Delete File': 'delete_file',
    'List File': 'list_files',
    'Read File': 'read_file',
    'Write File': 'write_file',
  },
  'Thinking Toolkit': { ThinkingTool: 'think' },
};

/** Its seeded workflows. Any other name or id is looked for among the organisation's own. */
export const WORKFLOW_TABLE: { readonly [name: string]: string } = {
  'Goal Based Workflow': 'goal',
  'Dynamic Task Workflow': 'dynamic-task',
  'Fixed Task Workflow': 'fixed-task',
  'Sales Engagement Workflow': 'sales-engagement',
  'Recruitment Workflow': 'recruitment',
  SuperCoder: 'supercoder',
};

/** States that its clients know. */
export const RUN_STATUSES = [
  'CREATED',
  'RUNNING',
  'PAUSED',
  'WAITING_FOR_PERMISSION',
  'WAIT_STEP',
  'ERROR_PAUSED',
  'ITERATION_LIMIT_EXCEEDED',
  'COMPLETED',
  'TERMINATED',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/**
 * What it has no word for: a question waits for a person as a permission does; a limit is a limit, whichever it is; and
 * who polls for an end must see one where nothing comes any more.
 */
const OTHERWISE: { readonly [status in Exclude<Status, RunStatus>]: RunStatus } = {
  WAITING_FOR_INPUT: 'WAITING_FOR_PERMISSION',
  BUDGET_EXCEEDED: 'ITERATION_LIMIT_EXCEEDED',
  FAILED: 'TERMINATED',
};

const isShared = (status: Status): status is Status & RunStatus => !Object.hasOwn(OTHERWISE, status);

export const runStatusOf = (status: Status): RunStatus => (isShared(status) ? status : OTHERWISE[status]);

const shown = (text: string): string => `"${text.slice(0, 60)}"`;

/** @throws AppError 400 naming what there is */
export const statusNamed = (given: string): RunStatus => {
  const wanted = given.trim().toUpperCase();
  const found = RUN_STATUSES.find((status) => status === wanted);
  if (found !== undefined) return found;
  const expected = `one of ${RUN_STATUSES.join(', ')}`;
  const errors = [{ field: 'run_status_filter', received: shown(given), expected }];
  throw badRequest(`run_status_filter: received ${shown(given)}, expected ${expected}.`, errors);
};

export const workflowNamed = (given: string): string => {
  const name = given.trim();
  return lookUp(WORKFLOW_TABLE, name) ?? name;
};

/**
 * "God Mode", or "RESTRICTED" with or without the explanation that its console put behind the word.
 * @throws AppError 400
 */
export const permissionTypeNamed = (given: string): 'GOD_MODE' | 'RESTRICTED' => {
  if (/^\s*god[ _]mode\s*$/i.test(given)) return 'GOD_MODE';
  if (/^\s*restricted\s*(\(.*\)\s*)?$/i.test(given)) return 'RESTRICTED';
  const expected = '"God Mode" or "RESTRICTED"';
  const errors = [{ field: 'permission_type', received: shown(given), expected }];
  throw badRequest(`permission_type: received ${shown(given)}, expected ${expected}.`, errors);
};

/** A toolkit with some of its tools; without any all of them. */
export interface GivenToolkit {
  readonly name: string;
  readonly tools?: readonly string[] | null | undefined;
}

/**
 * Names of Baton's tools. A toolkit may also be one of Baton's own, and so may a tool, in a toolkit or in place of one.
 * @param available names of the tools there are
 * @throws AppError 404 for a toolkit or tool that is not there
 */
export const toolsNamed = (given: readonly GivenToolkit[], available: readonly string[]): string[] => {
  const names = given.flatMap(({ name, tools }, at) => {
    const toolkit = toolkitNamed(name.trim(), available);
    if (toolkit === undefined) throw noSuch('toolkit', name, `tools[${at}].name`, Object.keys(TOOLKIT_TABLE));
    if (tools === undefined || tools === null || tools.length === 0) return Object.values(toolkit);
    return tools.map((tool, n) => {
      const found = lookUp(toolkit, tool.trim());
      if (found === undefined) throw noSuch('tool', tool, `tools[${at}].tools[${n}]`, Object.keys(toolkit));
      return found;
    });
  });
  return [...new Set(names)];
};

const toolkitNamed = (name: string, available: readonly string[]): { readonly [tool: string]: string } | undefined => {
  const its = lookUp(TOOLKIT_TABLE, name);
  const tools = its === undefined ? (TOOLKITS.find((one) => one.name === name)?.tools ?? [name]) : undefined;
  const entries = tools === undefined ? Object.entries(its ?? {}) : tools.map((tool) => [tool, tool] as const);
  const there = entries.filter(([, tool]) => available.includes(tool));
  if (there.length === 0) return undefined;
  // Baton's names of them are understood too.
  return { ...Object.fromEntries(there.map(([, tool]) => [tool, tool])), ...Object.fromEntries(there) };
};

/** Letters in either case. */
const lookUp = <T>(table: { readonly [name: string]: T }, name: string): T | undefined => {
  const wanted = name.toLowerCase();
  return Object.entries(table).find(([key]) => key.toLowerCase() === wanted)?.[1];
};

const noSuch = (what: string, given: string, field: string, there: readonly string[]): AppError => {
  const expected = `one of ${there.join(', ')}`;
  const message = `There is no ${what} ${shown(given)}: expected ${expected}${what === 'toolkit' ? ", or one of Baton's own tools" : ''}.`;
  return new AppError(404, 'unknown_tool', message, { errors: [{ field, received: shown(given), expected }] });
};
