import type { LocalStatement } from '../../template/assembly.ts';
import { SERVICES } from '../aws-request.ts';
import type { Ask, GrantId } from './policy.ts';

/** One action of one Allow statement of one role. */
export interface Grant {
  readonly role: string;
  readonly action: string;
  readonly resources: readonly string[];
  /** How many requests this grant let through. */
  readonly calls: number;
}

export interface Refusal {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  readonly calls: number;
}

/** What was granted, what was used, what was refused. JSON, so that runs can be added up. */
export interface UsageReport {
  readonly grants: readonly Grant[];
  /** Granted and never used, as far as this gateway can see: grants for services it does not serve are left out. */
  readonly neverUsed: readonly Grant[];
  readonly refused: readonly Refusal[];
}

const grantKey = (grant: { role: string; action: string; resources: readonly string[] }): string =>
  `${grant.role}\n${grant.action}\n${[...grant.resources].sort().join('\n')}`;
const refusalKey = (refusal: { role: string; action: string; resource: string }): string =>
  `${refusal.role}\n${refusal.action}\n${refusal.resource}`;

const observable = (grant: Grant): boolean =>
  grant.action === '*' || SERVICES.some((service) => grant.action.toLowerCase().startsWith(`${service}:`));

const report = (grants: readonly Grant[], refused: readonly Refusal[]): UsageReport => ({
  grants,
  neverUsed: grants.filter((grant) => grant.calls === 0 && observable(grant)),
  refused,
});

/** Counts what roles use of what they may. */
export class Usage {
  private readonly roles = new Map<string, readonly LocalStatement[]>();
  private readonly counts = new Map<string, number>();
  private readonly refusals = new Map<string, { role: string; action: string; resource: string; calls: number }>();

  add(role: string, statements: readonly LocalStatement[] | 'everything'): void {
    if (statements !== 'everything') this.roles.set(role, statements);
  }

  granted(role: string, by: readonly GrantId[]): void {
    for (const { statement, action } of by) {
      const id = `${role}\n${statement}\n${action}`;
      this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
    }
  }

  refused(role: string, { action, resource }: Ask): void {
    const id = refusalKey({ role, action, resource });
    const entry = this.refusals.get(id) ?? { role, action, resource, calls: 0 };
    entry.calls += 1;
    // A caller that asks for ever new resources must not fill the memory.
    if (this.refusals.has(id) || this.refusals.size < 1_000) this.refusals.set(id, entry);
  }

  report(): UsageReport {
    const grants = new Map<string, Grant>();
    for (const [role, statements] of this.roles) {
      statements.forEach(({ effect, actions, resources }, index) => {
        if (effect !== 'Allow') return;
        for (const action of actions) {
          const key = grantKey({ role, action, resources });
          const calls = (grants.get(key)?.calls ?? 0) + (this.counts.get(`${role}\n${index}\n${action}`) ?? 0);
          grants.set(key, { role, action, resources, calls });
        }
      });
    }
    return report(
      [...grants.values()],
      [...this.refusals.values()].map((entry) => ({ ...entry })),
    );
  }
}

/**
 * Adds an earlier run's report to this one's. What is granted is taken from `current` alone: a grant that has left the
 * template leaves the report.
 */
export function mergeUsage(earlier: UsageReport, current: UsageReport): UsageReport {
  const before = new Map(earlier.grants.map((grant) => [grantKey(grant), grant.calls]));
  const grants = current.grants.map((grant) => ({ ...grant, calls: grant.calls + (before.get(grantKey(grant)) ?? 0) }));
  const refused = new Map<string, Refusal>();
  for (const one of [...earlier.refused, ...current.refused]) {
    const key = refusalKey(one);
    refused.set(key, { ...one, calls: one.calls + (refused.get(key)?.calls ?? 0) });
  }
  return report(grants, [...refused.values()]);
}
