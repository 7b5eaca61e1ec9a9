/** What a policy's schema cannot say: that its parts fit together and fit the organisation. Pure. */
import type { FieldError } from '../../kernel/errors.ts';
import { globFault } from '../mandate/glob.ts';
import type { Source } from '../source/source.ts';
import type { Policy } from './policy.ts';

/** Ticket phases and the like are events of this source; it has no row and nobody to list. */
export const INTERNAL_SOURCE_ID = 'internal';

/** A row of the table holds 400 KB; a policy is read often and sent to people as a whole. */
export const MOST_POLICY_BYTES = 200_000;

const short = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Entries that say the same as one before them. */
const repeats = <Entry>(
  field: string,
  entries: readonly Entry[],
  nameOf: (entry: Entry) => readonly (string | undefined)[],
): FieldError[] => {
  const seen = new Map<string, number>();
  return entries.flatMap((entry, index) => {
    const name = JSON.stringify(nameOf(entry).map((part) => part ?? null));
    const before = seen.get(name);
    if (before === undefined) {
      seen.set(name, index);
      return [];
    }
    return [{ field: `${field}[${index}]`, received: `the same as ${field}[${before}]`, expected: 'each only once' }];
  });
};

const unknownSource = (field: string, sourceId: string): FieldError => ({
  field: `${field}.sourceId`,
  received: short(sourceId),
  expected: 'the id of a source of this organisation',
});

const checkAllow = ({ allow }: Policy, sources: ReadonlyMap<string, Source>): FieldError[] =>
  allow.flatMap(({ sourceId, actorId }, index): FieldError[] => {
    const source = sources.get(sourceId);
    if (source === undefined) return [unknownSource(`allow[${index}]`, sourceId)];
    if (source.self?.id !== actorId) return [];
    const received = `${short(actorId)}, which is the agent itself`;
    return [{ field: `allow[${index}].actorId`, received, expected: 'somebody else: it would talk to itself' }];
  });

const checkScoped = (
  field: 'admission' | 'grants',
  policy: Policy,
  sources: ReadonlyMap<string, Source>,
): FieldError[] =>
  policy[field].flatMap(({ sourceId }, index) =>
    sources.has(sourceId) || sourceId === INTERNAL_SOURCE_ID ? [] : [unknownSource(`${field}[${index}]`, sourceId)],
  );

const checkGrants = ({ grants, rules }: Policy): FieldError[] => {
  const known = new Set(rules.map(({ id }) => id));
  return grants.flatMap(({ ruleId, actorId, paths = [] }, index): FieldError[] => {
    const field = `grants[${index}]`;
    const both = ruleId !== undefined && actorId !== undefined;
    return [
      ...(ruleId === undefined || known.has(ruleId)
        ? []
        : [{ field: `${field}.ruleId`, received: short(ruleId), expected: 'the id of a rule of this policy' }]),
      // A ticket is opened by a person or by a rule, so that such a grant would never hold.
      ...(both ? [{ field, received: 'actorId and ruleId', expected: 'one of actorId and ruleId, or neither' }] : []),
      ...paths.flatMap((glob, at) => {
        const fault = globFault(glob);
        const expected = 'a relative path in which *, ? and ** as a whole segment are wildcards';
        return fault === undefined
          ? []
          : [{ field: `${field}.paths[${at}]`, received: `${short(glob)}: ${fault}`, expected }];
      }),
    ];
  });
};

const checkTools = ({ worker: { tools = [] } }: Policy, known: readonly string[]): FieldError[] =>
  tools.flatMap((name, index) => {
    const expected = `one of ${known.join(', ')}`;
    return known.includes(name) ? [] : [{ field: `worker.tools[${index}]`, received: short(name), expected }];
  });

/** What a policy has to fit. */
export interface Surroundings {
  /** The organisation's, by id. */
  readonly sources: ReadonlyMap<string, Source>;
  /** Names of the tools there are. */
  readonly tools: readonly string[];
}

/** What does not fit, field by field. */
export const checkPolicy = (policy: Policy, { sources, tools }: Surroundings): readonly FieldError[] => {
  const bytes = Buffer.byteLength(JSON.stringify(policy));
  const expected = `at most ${MOST_POLICY_BYTES} bytes as JSON`;
  return [
    ...(bytes > MOST_POLICY_BYTES ? [{ field: 'body', received: `${bytes} bytes`, expected }] : []),
    ...checkAllow(policy, sources),
    ...repeats('allow', policy.allow, (entry) => [entry.sourceId, entry.actorId]),
    ...checkScoped('admission', policy, sources),
    ...repeats('admission', policy.admission, (entry) => [entry.sourceId, entry.scope]),
    ...checkScoped('grants', policy, sources),
    ...repeats('grants', policy.grants, (entry) => [entry.sourceId, entry.scope, entry.actorId, entry.ruleId]),
    ...checkGrants(policy),
    ...repeats('rules', policy.rules, (entry) => [entry.id]),
    ...checkTools(policy, tools),
  ];
};
