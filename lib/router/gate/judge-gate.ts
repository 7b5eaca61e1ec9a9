/**
 * The Gate: who may ask for something, by the policy alone. Pure code over who speaks, where, and whether they name us; what
 * the text says besides decides nothing, but for a person's stop.
 */
import type { Ceiling, Policy, VersionedPolicy } from '../policy/policy.ts';
import type { Class, GateVerdict, Trigger } from '../thread/trigger.ts';
import { saysStop } from './stop-word.ts';

/** What the Gate looks at; a `Trigger` fits. */
export interface GateEvent {
  readonly sourceId: string;
  readonly scope: string;
  readonly actor: Pick<Trigger['actor'], 'id' | 'type' | 'association'>;
  /** Who wrote the text, where that is somebody else than who acted: an edit, a label on another's issue. */
  readonly authorId?: string | undefined;
  readonly text: string;
  readonly edited?: boolean | undefined;
}

/** Ourselves, as the source knows us. */
export interface GateSelf {
  readonly id: string;
  readonly login?: string | undefined;
}

/** GitHub's words for people whom a repository does not know (router-bugs F52). They add no authority and can take it. */
const STRANGERS: ReadonlySet<string> = new Set(['NONE', 'FIRST_TIMER', 'FIRST_TIME_CONTRIBUTOR', 'MANNEQUIN']);

const ceilingOf = (
  { admission }: Policy,
  { sourceId, scope }: GateEvent,
): { readonly ceiling: Ceiling; readonly row: string } => {
  const at = (wanted: string): number =>
    admission.findIndex((row) => row.sourceId === sourceId && row.scope === wanted);
  const index = at(scope) === -1 ? at('*') : at(scope);
  const found = admission[index];
  return found === undefined
    ? { ceiling: 'ignore', row: 'default' }
    : { ceiling: found.ceiling, row: `admission[${index}]` };
};

type Judged = Pick<GateVerdict, 'class' | 'row' | 'reason'>;

/** Why an actor is no listed person who speaks for themselves; else the row of the list. */
const personOf = (
  { allow }: Policy,
  { sourceId, actor, authorId, edited }: GateEvent,
  self: GateSelf | undefined,
): { readonly listed: string } | { readonly not: Omit<Judged, 'class'> } => {
  const not = (row: string, reason: string) => ({ not: { row, reason } });
  if (actor.id === self?.id) return not('self', 'It is our own.');
  if (actor.type !== 'user') return not('actor', `The actor is no person (${actor.type}).`);
  const index = allow.findIndex((entry) => entry.sourceId === sourceId && entry.actorId === actor.id);
  if (index === -1) return not('allow', 'The actor is not on the allow list.');
  if (authorId !== undefined && authorId !== actor.id) {
    return not('author', `The text was written by somebody else than who ${edited === true ? 'edited it' : 'acted'}.`);
  }
  return { listed: `allow[${index}]` };
};

/**
 * The class of an event, and the row of the policy that decided.
 *
 * `explicit`: a listed person names us in their own words, where the scope's ceiling is `explicit`. Bots, apps, people who
 * are not listed and text that another wrote are `inferred` at most; our own is `ignored`. A listed person who names us and
 * says stop is heard under any ceiling, as it only takes away.
 *
 * Whether somebody may revive a ticket is the same question with `named: true`.
 * @param named whether the text names us, as the channel reads it
 */
export const judgeGate = (
  { policy, version }: VersionedPolicy,
  event: GateEvent,
  self: GateSelf | undefined,
  named: boolean,
): GateVerdict => {
  const person = personOf(policy, event, self);
  const stop = 'listed' in person && named && saysStop(event.text, self?.login);
  const judged = classOf(policy, event, person, named);
  return { ...judged, policyVersion: version, ...(stop ? { stop } : {}) };
};

const classOf = (policy: Policy, event: GateEvent, person: ReturnType<typeof personOf>, named: boolean): Judged => {
  const { ceiling, row } = ceilingOf(policy, event);
  const verdict = (kind: Class, by: string, reason: string): Judged => ({ class: kind, row: by, reason });
  if ('not' in person && person.not.row === 'self') return { class: 'ignored', ...person.not };
  if (ceiling === 'ignore') {
    return verdict('ignored', row, row === 'default' ? 'No row of the policy admits it.' : 'The scope is ignored.');
  }
  if (ceiling === 'inferred') return verdict('inferred', row, 'The ceiling of the scope is inferred.');
  if ('not' in person) return { class: 'inferred', ...person.not };
  const { association } = event.actor;
  if (association !== undefined && STRANGERS.has(association)) {
    return verdict('inferred', 'association', `The repository does not know the person (${association}).`);
  }
  if (!named) return verdict('inferred', 'mention', 'The text does not name us.');
  return verdict('explicit', person.listed, 'A listed person names us.');
};
