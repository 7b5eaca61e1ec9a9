/** What a run that another run starts may do: never more than its parent. Pure. */
import { type ConfigEntries, DEFAULTS } from '../../agent/config-keys.ts';
import { FINISH } from '../../tools/finish.ts';
import { nearest } from '../../tools/near.ts';
import type { RunAgentArguments } from '../../tools/run-agent.ts';
import type { Limits } from '../execution.ts';
import type { Pinned } from '../rows.ts';

export type ChildConfig =
  | { readonly ok: true; readonly config: ConfigEntries }
  /** A sentence for the model. */
  | { readonly ok: false; readonly problem: string };

/** Micro-dollars in a dollar. */
const MICRO = 1e6;

/** The lower of what the agent says and the parent may. */
const lower = (own: unknown, usual: number, most: number): number =>
  Math.min(typeof own === 'number' ? own : usual, most);

const names = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined;

const lines = (...lists: readonly unknown[]): readonly string[] => lists.flatMap((list) => names(list) ?? []);

/**
 * @param mine names of the tools that the parent is offered
 * @param own the agent's configuration
 */
const toolsOf = (mine: readonly string[], own: ConfigEntries, asked: readonly string[] | undefined) => {
  const beyond = (asked ?? []).find((name) => !mine.includes(name));
  if (beyond !== undefined) {
    const near = nearest(beyond, mine);
    const meant = near === undefined ? '' : ` Did you mean ${near}?`;
    const problem = `The run was not started: you may not use ${JSON.stringify(beyond.slice(0, 64))}, so it may not either.${meant} You may pass on: ${mine.filter((name) => name !== FINISH).join(', ')}.`;
    return { ok: false as const, problem };
  }
  const theirs = names(own.tools);
  const both = theirs === undefined ? mine : mine.filter((name) => theirs.includes(name));
  const tools = asked === undefined ? both : both.filter((name) => asked.includes(name));
  return { ok: true as const, tools: tools.filter((name) => name !== FINISH) };
};

/** Whatever one of both must ask for is asked for. */
const permissionsOf = (parent: Pinned, own: ConfigEntries, tools: readonly string[]): ConfigEntries => {
  const mine = parent.permissionType === 'RESTRICTED';
  const theirs = own.permissionType === 'RESTRICTED';
  if (!mine && !theirs) return { permissionType: 'GOD_MODE' };
  const restricted = { permissionType: 'RESTRICTED' };
  const lists = [...(mine ? [parent.permissionTools] : []), ...(theirs ? [names(own.permissionTools)] : [])];
  const listed = lists.flatMap((list) => list ?? []);
  if (!lists.includes(undefined)) return { ...restricted, permissionTools: [...new Set(listed)] };
  // Without a list every call that does something is asked for; no list says that and names harmless ones besides.
  return listed.length === 0 ? restricted : { ...restricted, permissionTools: [...tools] };
};

/** The keys that are made anew, so that none of the agent's own stands beside them. */
const MADE = ['goals', 'tools', 'permissionType', 'permissionTools'] as const;

/**
 * The whole configuration of a child, from the agent's own (or the parent's, for a run without an agent of its own) and
 * everything that holds the parent.
 * @param limits of the parent, as they stand
 * @param budget micro-dollars set aside for it
 */
export const childConfig = (
  parent: Pinned,
  limits: Limits,
  mine: readonly string[],
  own: ConfigEntries,
  args: RunAgentArguments,
): ChildConfig => {
  const tools = toolsOf(mine, own, args.tools);
  if (!tools.ok) return tools;
  const rest = Object.fromEntries(Object.entries(own).filter(([key]) => !MADE.some((made) => made === key)));
  const instructions = lines(own.instructions, args.instructions === undefined ? [] : [args.instructions]);
  const ofAgent = args.agentId !== undefined;
  const unsafe = own.httpUnsafe === true || parent.config.httpUnsafe === true;
  const unsafeHosts = [...new Set(lines(own.httpUnsafeHosts, parent.config.httpUnsafeHosts))];
  const config: ConfigEntries = {
    ...rest,
    goals: args.goal === undefined ? lines(own.goals) : [args.goal],
    ...(instructions.length > 0 && { instructions }),
    // What binds the parent binds whoever works for it.
    ...(ofAgent && parent.constraints.length > 0 && { constraints: lines(own.constraints, parent.constraints) }),
    tools: tools.tools,
    ...permissionsOf(parent, own, tools.tools),
    ...(unsafe && { httpUnsafe: true }),
    ...(unsafeHosts.length > 0 && { httpUnsafeHosts: unsafeHosts }),
    maxIterations: lower(own.maxIterations, DEFAULTS.maxIterations, limits.maxIterations),
    maxSteps: lower(own.maxSteps, DEFAULTS.maxSteps, limits.maxSteps),
    maxSeconds: lower(own.maxSeconds, DEFAULTS.maxSeconds, limits.maxSeconds),
    ...(limits.maxTokens !== undefined && { maxTokens: lower(own.maxTokens, limits.maxTokens, limits.maxTokens) }),
  };
  return { ok: true, config };
};

export type Budget = { readonly ok: true; readonly micro: number } | { readonly ok: false; readonly problem: string };

const usd = (micro: number): string => `$${(micro / MICRO).toFixed(4)}`;

/**
 * What is set aside for a child, micro-dollars.
 * @param free what the parent may still spend
 * @param shares among how many that is to be divided: calls that are still to be started, and the parent itself
 * @param first what the child's first model call can cost at most
 */
export const budgetFor = (
  args: RunAgentArguments,
  own: ConfigEntries,
  free: number,
  shares: number,
  first: number,
): Budget => {
  const most = lower(own.maxCostUsd, DEFAULTS.maxCostUsd, 1_000_000) * MICRO;
  const wanted = args.maxCostUsd === undefined ? Math.max(first, free / shares) : args.maxCostUsd * MICRO;
  const micro = Math.floor(Math.min(wanted, most));
  const left = `Of your own budget ${usd(Math.max(0, free))} are left`;
  if (micro > free) return { ok: false, problem: `The run was not started: it would take ${usd(micro)}. ${left}.` };
  if (micro < first || micro === 0) {
    const needs = first === 0 ? 'it needs a budget' : `its first model call can cost up to ${usd(first)}`;
    return { ok: false, problem: `The run was not started: ${needs}, and it would have ${usd(micro)}. ${left}.` };
  }
  return { ok: true, micro };
};
