/** What GitHub tells of our access itself. */
import * as z from 'zod';
import { defineEvent, drop, outcomes } from './event.ts';
import { repository, time } from './payload.ts';

export const installation = defineEvent({
  actions: ['created', 'deleted', 'suspend', 'unsuspend'],
  schema: z.object({
    action: z.string(),
    installation: z.object({ created_at: time, updated_at: time, suspended_at: time }),
  }),
  read: ({ action, installation: told }, { received: { receivedAt } }) => {
    switch (action) {
      case 'deleted':
        return outcomes({
          make: 'source',
          // Nothing follows it, and GitHub gives no time of it.
          at: receivedAt,
          state: 'gone',
          reason: 'The app was uninstalled at GitHub.',
        });
      case 'suspend':
        return outcomes({
          make: 'source',
          at: told.suspended_at ?? told.updated_at ?? receivedAt,
          state: 'suspended',
          reason: 'The installation was suspended at GitHub.',
        });
      default:
        return outcomes({
          make: 'source',
          at: (action === 'created' ? told.created_at : told.updated_at) ?? receivedAt,
          state: 'active',
        });
    }
  },
});

export const installationRepositories = defineEvent({
  actions: ['removed'],
  schema: z.object({ repositories_removed: z.array(z.object({ id: z.int() })) }),
  read: ({ repositories_removed: removed }, { source, received }) =>
    // Without a list of ours, what the installation shows is what counts.
    source.repositories === undefined
      ? drop('no_list', 'The source has no list of repositories.')
      : outcomes({ make: 'source', at: received.receivedAt, removed: removed.map(({ id }) => String(id)) }),
});

export const repositoryEvent = defineEvent({
  actions: ['renamed', 'transferred', 'deleted'],
  schema: z.object({ action: z.string(), repository }),
  read: ({ action, repository: { id, full_name: fullName } }, { source, received }) => {
    if (source.repositories === undefined) return drop('no_list', 'The source has no list of repositories.');
    const at = received.receivedAt;
    return outcomes(
      action === 'deleted'
        ? { make: 'source', at, removed: [String(id)] }
        : { make: 'source', at, renamed: { id: String(id), fullName } },
    );
  },
});
