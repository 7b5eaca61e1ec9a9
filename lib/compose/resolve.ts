import type { ResolveDeps } from '../router/ingest/resolve.ts';
import { storeTrigger } from '../router/thread/store.ts';
import { setSubject } from '../router/thread/subject.ts';
import { withdrawTrigger } from '../router/thread/withdraw.ts';
import { followSubject } from '../router/ticket/subject.ts';
import { blobs } from './bucket.ts';
import { channels } from './channels.ts';
import { clock, once, table } from './core.ts';
import { providerFor } from './providers.ts';
import { threadDeps } from './threads.ts';
import { ticketDeps } from './tickets.ts';

export const resolveDeps = once(
  (): ResolveDeps => ({
    table: table(),
    blobs: blobs(),
    clock,
    channels,
    provider: providerFor,
    threads: {
      store: (orgId, event) => storeTrigger(threadDeps(), orgId, event),
      withdraw: (orgId, gone) => withdrawTrigger(threadDeps(), orgId, gone),
      subject: async (orgId, subject) => {
        const threadId = await setSubject(threadDeps(), orgId, subject);
        await followSubject(ticketDeps(), orgId, threadId);
        return threadId;
      },
    },
  }),
);
