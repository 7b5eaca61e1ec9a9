/** Tickets and postings as far as Threads see them, over the same table and with the guards that the real rooms have. */
import { derivedId } from '../../../lib/kernel/ids.ts';
import { keys } from '../../../lib/kernel/keys.ts';
import { ConditionFailed, eq, missing, type Table, TransactionRefused, type Write } from '../../../lib/kernel/table.ts';
import type { Acceptance, Desk } from '../../../lib/router/thread/desk.ts';
import { happenedAt } from '../../../lib/router/thread/route.ts';
import type { Thread } from '../../../lib/router/thread/thread.ts';
import { readTicket, type Ticket } from '../../../lib/router/ticket/ticket.ts';
import { makeRow, ROW_VERSION } from '../../../lib/tenancy/row.ts';

const ticketItem = (ticket: Ticket) =>
  makeRow(keys.ticket(ticket.orgId, ticket.id), {
    ...JSON.parse(JSON.stringify(ticket)),
    ownerPk: `ORG#${ticket.orgId}#TICKETS`,
    ownerSk: ticket.id,
  });

const subscriptionItem = ({ orgId, id }: Pick<Thread, 'orgId' | 'id'>, ticketId: string) =>
  makeRow(keys.subscription(orgId, id, ticketId), { ticketId });

const place = ({ id, sourceId, replyTo }: Thread) => ({ threadId: id, sourceId, replyTo });

const ticketOf = (ticketId: string, request: Acceptance): Ticket =>
  readTicket(
    makeRow(keys.ticket(request.thread.orgId, ticketId), {
      id: ticketId,
      orgId: request.thread.orgId,
      title: request.title,
      phase: 'working',
      mandate: {
        ...JSON.parse(JSON.stringify(request.mandate)),
        id: ticketId.replace('tkt', 'mdt'),
        state: 'active',
        grantedBy: request.grantedBy,
        policyVersion: request.policy.version,
      },
      threads: JSON.parse(JSON.stringify([place(request.thread)])),
      executionIds: [],
      openedBy: request.grantedBy,
      triggerId: request.trigger.id,
      version: 1,
      createdAt: request.trigger.receivedAt,
      updatedAt: request.trigger.receivedAt,
    }),
  );

/** What a ticket was given stands beside it: one row for each Trigger and revision. */
export const givenKey = (orgId: string, ticketId: string, triggerId: string, revision: number) => ({
  pk: keys.ticket(orgId, ticketId).pk,
  sk: `GIVEN#${triggerId}#${revision}`,
});

export const answerKey = (orgId: string, triggerId: string, revision: number) =>
  keys.posting(orgId, `answer ${triggerId} ${revision}`);

export const makeDesk = (table: Table): Desk => {
  const tickets = async (orgId: string, threadId: string): Promise<Ticket[]> => {
    const page = await table.query({ ...keys.subscriptions(orgId, threadId), consistent: true });
    const rows = await Promise.all(
      page.items.map(({ sk }) => table.get(keys.ticket(orgId, sk.slice(sk.indexOf('#') + 1)), { consistent: true })),
    );
    return rows.flatMap((row) => (row === undefined ? [] : [readTicket(row)]));
  };
  const close = async (ticket: Ticket, by: string): Promise<void> => {
    const mandate = { ...ticket.mandate, state: 'revoked' as const, revokedBy: by };
    const closed = { ...ticket, phase: 'closed' as const, mandate, version: ticket.version + 1 };
    try {
      await table.put(ticketItem(closed), eq('version', ticket.version));
    } catch (error) {
      // Somebody else has closed it, or this one whose answer was lost.
      if (!(error instanceof ConditionFailed) || error.item?.phase !== 'closed') throw error;
    }
  };
  return {
    async accept(request) {
      const { trigger } = request;
      const ticketId = derivedId('tkt', happenedAt(trigger), `${trigger.id} ${trigger.revision}`);
      const start = async (alongside: readonly Write[]): Promise<void> => {
        try {
          await table.transact([
            { put: ticketItem(ticketOf(ticketId, request)), if: missing('pk') },
            { put: subscriptionItem(request.thread, ticketId) },
            ...alongside,
          ]);
        } catch (error) {
          // As an execution that was started before: everything stands since then.
          if (!(error instanceof TransactionRefused) || error.refused[0] !== true) throw error;
        }
      };
      return { ticketId, start };
    },
    async join({ thread, ticket }) {
      const row = await table.get(keys.ticket(ticket.orgId, ticket.id), { consistent: true });
      const now = row && readTicket(row);
      if (now === undefined || now.phase === 'closed') return undefined;
      const after = { ...now, threads: [...now.threads, place(thread)], version: now.version + 1 };
      return {
        writes: [
          { put: ticketItem(after), if: eq('version', now.version) },
          { put: subscriptionItem(thread, ticket.id) },
        ],
        wake: async () => undefined,
      };
    },
    answer({ thread, trigger, body }) {
      const item = makeRow(answerKey(thread.orgId, trigger.id, trigger.revision), { threadId: thread.id, body });
      return { writes: [{ put: item, if: missing('pk') }], wake: async () => undefined };
    },
    async stop({ orgId, threadId, ticketId, by }) {
      const open = (await tickets(orgId, threadId)).filter(({ id }) => ticketId === undefined || id === ticketId);
      for (const ticket of open) if (ticket.phase !== 'closed') await close(ticket, by);
      return open.map(({ id }) => id);
    },
    async fanOut(trigger) {
      const open = (await tickets(trigger.orgId, trigger.threadId)).filter(({ mandate }) => mandate.state === 'active');
      for (const { orgId, id } of open) {
        const key = givenKey(orgId, id, trigger.id, trigger.revision);
        try {
          await table.put({ ...key, v: ROW_VERSION, text: trigger.text, class: trigger.gate.class }, missing('pk'));
        } catch (error) {
          if (!(error instanceof ConditionFailed)) throw error;
        }
      }
      return open.map(({ id }) => id);
    },
  };
};
