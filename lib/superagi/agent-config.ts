import type { ConfigEntries } from '../agent/config-keys.ts';
import { permissionTypeNamed, toolsNamed } from './names.ts';
import type { GivenAgent } from './wire.ts';

/** Kept for the day when there is knowledge; nothing reads it, and no key of ours may be taken for it. */
const KNOWLEDGE = 'superagi.knowledge';

/**
 * What was given as entries of the agent's configuration, one per key; what was not given is not among them.
 * @throws AppError 404 for a tool, 400 for a permission type
 */
export const configOf = (given: GivenAgent, tools: readonly string[]): ConfigEntries => {
  const { goal, instruction, constraints, model, max_iterations, user_timezone, permission_type, knowledge } = given;
  const entries: { readonly [key: string]: unknown } = {
    goals: goal,
    instructions: instruction,
    constraints,
    tools: given.tools == null ? undefined : toolsNamed(given.tools, tools),
    model,
    maxIterations: max_iterations,
    userTimezone: user_timezone || undefined,
    permissionType: permission_type == null ? undefined : permissionTypeNamed(permission_type),
    [KNOWLEDGE]: knowledge,
  };
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined && value !== null));
};

/** The zone of times without an offset. */
export const timezoneOf = (given: GivenAgent, kept: ConfigEntries = {}): string => {
  const { userTimezone } = kept;
  return given.user_timezone || (typeof userTimezone === 'string' ? userTimezone : 'UTC');
};
