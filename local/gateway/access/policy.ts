import type { LocalStatement } from '../../template/assembly.ts';
import { type ConditionContext, compileConditions } from './conditions.ts';
import { wildcard } from './patterns.ts';

/** One thing a request wants to do. A transaction asks once for each of its items. */
export interface Ask {
  /** `dynamodb:PutItem` */
  readonly action: string;
  readonly resource: string;
  readonly context: ConditionContext;
}

/** A grant: the statement's position and which of its actions matched. */
export interface GrantId {
  readonly statement: number;
  readonly action: string;
}

export type Decision =
  | { readonly allowed: true; readonly by: readonly GrantId[] }
  | { readonly allowed: false; readonly explicit: boolean };

interface Compiled {
  readonly index: number;
  readonly effect: LocalStatement['effect'];
  readonly actions: readonly { readonly pattern: string; readonly matches: (text: string) => boolean }[];
  readonly matchesResource: (resource: string) => boolean;
  readonly conditional: boolean;
  readonly test: ReturnType<typeof compileConditions>;
}

/** Decisions of a role repeat: remembered where no condition took part. */
const REMEMBERED = 2_000;

/** A role's identity-based policies: an explicit deny wins, then an allow, else no. */
export class Policy {
  private readonly statements: readonly Compiled[] | 'everything';
  private readonly remembered = new Map<string, Decision>();

  constructor(statements: readonly LocalStatement[] | 'everything') {
    this.statements = statements === 'everything' ? statements : statements.map(compile);
  }

  decide(ask: Ask): Decision {
    if (this.statements === 'everything') return { allowed: true, by: [] };
    const id = `${ask.action}\n${ask.resource}`;
    const before = this.remembered.get(id);
    if (before !== undefined) return before;
    const by: GrantId[] = [];
    let denied = false;
    let conditional = false;
    for (const statement of this.statements) {
      const action = statement.actions.find(({ matches }) => matches(ask.action));
      if (action === undefined || !statement.matchesResource(ask.resource)) continue;
      conditional ||= statement.conditional;
      const verdict = statement.test(ask.context);
      // What cannot be judged fails closed: it allows nothing and denies whatever it names.
      if (statement.effect === 'Deny') denied ||= verdict !== false;
      else if (verdict === true) by.push({ statement: statement.index, action: action.pattern });
    }
    const decision: Decision = denied || by.length === 0 ? { allowed: false, explicit: denied } : { allowed: true, by };
    if (!conditional) {
      if (this.remembered.size >= REMEMBERED) this.remembered.clear();
      this.remembered.set(id, decision);
    }
    return decision;
  }
}

function compile(statement: LocalStatement, index: number): Compiled {
  const resources = statement.resources.map((pattern) => {
    // A policy variable has no value here: it allows nothing, and a deny with one denies everywhere.
    if (pattern.includes('${')) return () => statement.effect === 'Deny';
    return wildcard(pattern);
  });
  return {
    index,
    effect: statement.effect,
    actions: statement.actions.map((pattern) => ({ pattern, matches: wildcard(pattern, { ignoreCase: true }) })),
    matchesResource: (resource) => resources.some((matches) => matches(resource)),
    conditional: Object.keys(statement.conditions).length > 0,
    test: compileConditions(statement.conditions),
  };
}

/** AWS's sentence for a refusal. */
export function deniedSentence(principalArn: string, ask: Ask, explicit: boolean): string {
  const reason = explicit
    ? 'with an explicit deny in an identity-based policy'
    : `because no identity-based policy allows the ${ask.action} action`;
  const resource = ask.action.startsWith('s3:') ? `"${ask.resource}"` : ask.resource;
  return `User: ${principalArn} is not authorized to perform: ${ask.action} on resource: ${resource} ${reason}`;
}
