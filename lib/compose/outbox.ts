import { randomBytes } from 'node:crypto';
import type { OutboxDeps } from '../router/outbox/deps.ts';
import { loadPolicy } from '../router/policy/load-policy.ts';
import { clock, log, once, postings, table } from './core.ts';
import { providerFor } from './providers.ts';

/** What sends postings. */
export const outboxDeps = once(
  (): OutboxDeps => ({
    table: table(),
    clock,
    log,
    postings: postings(),
    provider: providerFor,
    policyOf: (orgId) => loadPolicy(table(), orgId),
    newOwner: () => randomBytes(9).toString('base64url'),
    random: Math.random,
  }),
);
