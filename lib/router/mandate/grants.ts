/** Grants: what the policy lets a ticket do, by where it was asked and who or which rule opened it. Pure. */
import type { Policy } from '../policy/policy.ts';
import type { Trigger } from '../thread/trigger.ts';
import type { Verb } from './mandate.ts';

export type Grant = Policy['grants'][number];

export interface Asking {
  readonly sourceId: string;
  readonly scope: string;
  /** The person whose own words ask; nobody where a rule does. */
  readonly actorId?: string | undefined;
  /** The rule that opens the ticket; none where a person does. */
  readonly ruleId?: string | undefined;
}

/**
 * What counts as asking for a Trigger. A person's grants hold for what that person asks, and no rule adds to them; a
 * rule's grants hold for what it lets in, whoever wrote it. Whichever of the two a model names changes neither.
 */
export const askingOf = (
  { sourceId, scope, actor, gate }: Pick<Trigger, 'sourceId' | 'scope' | 'actor' | 'gate'>,
  ruleId: string | undefined,
): Asking => (gate.class === 'explicit' ? { sourceId, scope, actorId: actor.id } : { sourceId, scope, ruleId });

const holdsFor = (grant: Grant, asking: Asking): boolean =>
  grant.sourceId === asking.sourceId &&
  (grant.scope === asking.scope || grant.scope === '*') &&
  (grant.actorId === undefined || grant.actorId === asking.actorId) &&
  (grant.ruleId === undefined || grant.ruleId === asking.ruleId);

/** Who before where. */
const closeness = (grant: Grant): number =>
  (grant.actorId === undefined ? 0 : 2) + (grant.ruleId === undefined ? 0 : 2) + (grant.scope === '*' ? 0 : 1);

/**
 * The one grant that counts: the closest, which may be narrower than a wider one behind it. One that names a person or a
 * rule is closer than one that names none, then one that names the scope closer than `*`; among equals the first.
 */
export const grantFor = ({ grants }: Pick<Policy, 'grants'>, asking: Asking): Grant | undefined =>
  grants
    .filter((grant) => holdsFor(grant, asking))
    .reduce<Grant | undefined>(
      (best, grant) => (best === undefined || closeness(grant) > closeness(best) ? grant : best),
      undefined,
    );

/** Without a grant: an answer where it was asked. */
export const WITHOUT_GRANT: Verb = 'comment';
