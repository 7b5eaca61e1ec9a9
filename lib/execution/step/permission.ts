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

/** A person is shown the exact arguments, which are kept in one row: it holds 400 KB. */
const MOST_ASKED_BYTES = 200_000;

/** A sentence for the model when its call cannot be laid before a person. */
export const tooLongToAsk = (call: Pick<ToolCall, 'name' | 'arguments'>): string | undefined => {
  const bytes = Buffer.byteLength(call.arguments);
  if (bytes <= MOST_ASKED_BYTES) return undefined;
  return `${call.name} needs a person's leave, and its arguments (${bytes} bytes) are more than the ${MOST_ASKED_BYTES} that can be shown. Split it into smaller calls.`;
};
