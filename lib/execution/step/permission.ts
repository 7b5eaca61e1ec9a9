import { createHash } from 'node:crypto';
import type { ToolCall } from '../../model/model.ts';
import { bare } from '../../tools/near.ts';
import type { Effect } from '../../tools/tool.ts';
import type { AskRow, Pinned } from '../rows.ts';

/**
 * Whether a call needs a person's leave. With `permissionTools` exactly these do; without it RESTRICTED means every call
 * that does something to the world.
 * @param tool name of the tool that will run, never what the model wrote; the configuration's spelling does not matter,
 * so that "Write File" cannot leave `write_file` free
 */
export const needsPermission = (
  pinned: Pick<Pinned, 'permissionType' | 'permissionTools'>,
  tool: string,
  effect: Effect,
): boolean => {
  if (pinned.permissionType !== 'RESTRICTED') return false;
  return pinned.permissionTools === undefined
    ? effect !== 'none'
    : pinned.permissionTools.some((name) => bare(name) === bare(tool));
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

/**
 * A decision counts for the very call that was shown. Whatever else the row says, by damage or by somebody's hand, it
 * is as if nobody had decided: the call is shown again.
 */
export const isDecided = (ask: AskRow | undefined, call: Pick<ToolCall, 'name' | 'arguments'>): boolean =>
  ask !== undefined &&
  (ask.state === 'approved' || isRefusal(ask)) &&
  ask.argumentsHash === argumentsHash(call) &&
  ask.argumentsHash === argumentsHash({ name: ask.tool, arguments: ask.arguments });

export const isRefusal = (ask: AskRow | undefined): ask is AskRow =>
  ask?.state === 'rejected' || ask?.state === 'expired';

/** What the model is told of a call that a person, or nobody in time, did not allow. */
export const refusalText = (ask: AskRow): string =>
  ask.state === 'expired'
    ? 'This call needed a person to allow it. Nobody decided in time, so it was not carried out. Go on without it, or say in the end what is missing.'
    : `A person rejected this call${ask.feedback === undefined ? '.' : `: ${ask.feedback}`} Do not repeat it unchanged.`;

/** What a person said when they allowed a call: it follows the call's outcome. */
export const remarkOf = (ask: AskRow | undefined): string =>
  ask?.state === 'approved' && ask.feedback !== undefined
    ? `\n[The person who allowed this call says: ${ask.feedback}]`
    : '';

/** When and how the clock settles a permission of this run; nothing where it may wait for ever. */
export const expiryOf = (
  pinned: Pick<Pinned, 'permissionTtlSeconds' | 'permissionExpiry'>,
): { readonly expiry?: { readonly ms: number; readonly then: 'reject' | 'pause' } } =>
  pinned.permissionTtlSeconds === undefined
    ? {}
    : { expiry: { ms: pinned.permissionTtlSeconds * 1000, then: pinned.permissionExpiry ?? 'reject' } };
