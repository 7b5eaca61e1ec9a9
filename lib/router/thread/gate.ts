/** The Gate, asked about a Trigger as its row stands: when it is stored, and again inside the Eval. */
import { judgeGate } from '../gate/judge-gate.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import type { Source } from '../source/source.ts';
import type { ThreadDeps } from './deps.ts';
import type { GateVerdict, Trigger } from './trigger.ts';

/** @param source `undefined` for the internal source, which has no row, and for one that was deleted */
export const judgeTrigger = (
  { names }: Pick<ThreadDeps, 'names'>,
  policy: VersionedPolicy,
  source: Source | undefined,
  {
    sourceId,
    scope,
    actor,
    authorId,
    text,
    edited,
  }: Pick<Trigger, 'sourceId' | 'scope' | 'actor' | 'authorId' | 'text' | 'edited'>,
): GateVerdict =>
  judgeGate(
    policy,
    {
      sourceId,
      scope,
      actor,
      text,
      ...(authorId !== undefined && { authorId }),
      ...(edited !== undefined && { edited }),
    },
    source?.self,
    source !== undefined && names(text, source),
  );
