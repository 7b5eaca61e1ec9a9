import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../lib/router/channel.ts';
import { resolveDelivery } from '../../lib/router/ingest/resolve.ts';
import { GITHUB, githubDelivery, makeInbox } from '../router/support/inbox.ts';

interface Event {
  readonly name: string;
  readonly examples: readonly object[];
}
const require = createRequire(import.meta.url);
const events = require('@octokit/webhooks-examples/api.github.com/index.json') as readonly Event[];
const all = events.flatMap(({ name, examples }) => examples.map((payload) => ({ name, payload })));

const verdictsOf = async (given: Partial<typeof GITHUB>) => {
  const h = await makeInbox({ ...GITHUB, ...given });
  for (const { name, payload } of all) await h.send(githubDelivery(name, payload));
  await h.drain();
  return h;
};

describe('every example of GitHub', () => {
  it('is one of 329', () => {
    expect(all).toHaveLength(329);
  });

  it('is taken and has a verdict, whoever we are', async () => {
    const h = await verdictsOf({});
    const rows = h.deliveries();
    expect(rows).toHaveLength(329);
    expect(rows.filter(({ verdict }) => verdict === 'received' || verdict === 'failed')).toEqual([]);
    expect(rows.filter(({ reason, verdict }) => verdict !== 'resolved' && reason === undefined)).toEqual([]);
    const kinds = new Set(h.triggers().map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['comment', 'issue', 'label', 'pull_request', 'push']);
    const read = rows.filter(({ verdict }) => verdict === 'resolved').map(({ event }) => event);
    expect(new Set(read)).toEqual(
      new Set(['issues', 'issue_comment', 'pull_request', 'pull_request_review', 'pull_request_review_comment']),
    );
    // Nobody is listed, so nothing of it is more than inferred.
    expect(h.triggers().filter((trigger) => trigger.gate.class === 'explicit')).toEqual([]);
  });

  it('I1: makes no Trigger where its sender is us', async () => {
    // The account that sends most of the examples.
    const h = await verdictsOf({ self: { id: '21031067', login: 'Codertocat' } });
    const own = h.deliveries().filter(({ reason }) => reason?.code === 'own_message');
    expect(own.length).toBeGreaterThan(30);
    expect(h.triggers().filter(({ actor }) => actor.id === '21031067')).toEqual([]);
  });

  it('comes back where GitHub has to be asked and is away, and only there', async () => {
    const h = await makeInbox();
    const provider = async () => ({
      get: async () => {
        throw new ProviderError('down', 'No answer.');
      },
    });
    for (const { name, payload } of all) await h.send(githubDelivery(name, payload));
    const results = await Promise.allSettled(
      h.inbox.take().map(({ message }) => resolveDelivery({ ...h.resolveDeps, provider: provider as never }, message)),
    );
    const failed = results.filter(({ status }) => status === 'rejected').length;
    const waiting = h.deliveries().filter(({ verdict }) => verdict === 'received');
    expect(waiting).toHaveLength(failed);
    expect(new Set(waiting.map(({ event }) => event))).toEqual(
      new Set([
        'check_run',
        'check_suite',
        'pull_request_review',
        'pull_request_review_comment',
        'status',
        'workflow_run',
      ]),
    );
  });
});
