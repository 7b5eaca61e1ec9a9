import { createHash } from 'node:crypto';
import type { ToolCall } from '../../model/model.ts';
import type { Effect } from '../../tools/tool.ts';
import type { Pinned } from '../rows.ts';

/**
 * Whether a call needs a person's leave. With `permissionTools` exactly these do; without it RESTRICTED means every call
 * that does something to the world.
 */
export const needsPermission = (
  pinned: Pick<Pinned, 'permissionType' | 'permissionTools'>,
  tool: string,
  effect: Effect,
): boolean => {
  if (pinned.permissionType !== 'RESTRICTED') return false;
  return pinned.permissionTools === undefined ? effect !== 'none' : pinned.permissionTools.includes(tool);
};

/** Binds a decision to the exact call: tool and arguments, byte for byte. */
export const argumentsHash = (call: Pick<ToolCall, 'name' | 'arguments'>): string =>
  createHash('sha256').update(`${call.name}\n${call.arguments}`).digest('hex');
