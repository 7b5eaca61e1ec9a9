/** Running tickets hear of a new policy. Their mandates stay; what is new holds for what is opened from now on. */
import * as z from 'zod';
import { effectIdOf, effectItem } from '../../effect/effect.ts';
import { getExecution } from '../../execution/get.ts';
import { isTerminal } from '../../execution/status.ts';
import { ifStill } from '../../kernel/if-still.ts';
import { owner } from '../../kernel/keys.ts';
import { missing } from '../../kernel/table.ts';
import { legible } from '../../tenancy/list-rows.ts';
import type { NotifyPolicyChange } from '../policy/put-policy.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { giveMessage } from './give.ts';
import { grantNext } from './grant.ts';
import { readTicket, type Ticket } from './ticket.ts';

export const POLICY_CHANGED = 'policy.changed';
export const policyNoticeSchema = z.object({ version: z.int(), after: z.string().optional() });
type Notice = z.infer<typeof policyNoticeSchema>;

/** Tickets that one effect goes through; the next one goes on behind them. */
const PAGE = 25;

const noticeItem = (orgId: string, notice: Notice, at: number) => {
  const effectId = effectIdOf(`${POLICY_CHANGED} ${orgId} ${notice.version} ${notice.after ?? ''}`);
  const detail = JSON.stringify(notice);
  return { effectId, put: effectItem({ effectId, orgId, kind: 'ticket', detailType: POLICY_CHANGED, detail, at }) };
};

/** For the transaction that saves a policy: one row, however many tickets there are. */
export const notifyPolicyChange =
  (deps: Pick<TicketDeps, 'effects' | 'log'>): NotifyPolicyChange =>
  ({ orgId, version, at }) => {
    const { effectId, put } = noticeItem(orgId, { version }, at);
    return { writes: [{ put }], wake: () => wakeEffects(deps, orgId, [effectId]) };
  };

/** Tells one page of tickets, then writes the effect of the next. More places may have come with the policy too. */
export const tellPolicyChange = async (deps: TicketDeps, orgId: string, notice: Notice): Promise<void> => {
  const page = await deps.table.query({
    index: 'byOwner',
    pk: owner.tickets(orgId),
    newestFirst: true,
    limit: PAGE,
    // The index is asked again from an id, because an effect's row cannot carry what a query calls its place.
    ...(notice.after !== undefined && { to: before(notice.after) }),
  });
  const rows = page.items.length === 0 ? [] : await deps.table.getMany(page.items.map(({ pk, sk }) => ({ pk, sk })));
  const read = legible(deps.log, readTicket);
  for (const row of rows) {
    const ticket = row && read(row);
    if (ticket !== undefined && ticket.endedAt === undefined) await tell(deps, ticket, notice.version);
  }
  const last = page.items.at(-1);
  if (last !== undefined && page.items.length === PAGE) {
    const next = noticeItem(orgId, { version: notice.version, after: String(last.ownerSk) }, deps.clock.now());
    // A repeat must not bring back what was sent already.
    await ifStill(() => deps.table.put(next.put, missing('pk')));
    await wakeEffects(deps, orgId, [next.effectId]);
  }
  await grantNext(deps, orgId);
};

/** Just below an id, in the order of text. */
const before = (id: string): string =>
  `${id.slice(0, -1)}${String.fromCharCode(id.charCodeAt(id.length - 1) - 1)}\uffff`;

const tell = async (
  deps: TicketDeps,
  { orgId, id: ticketId, executionIds }: Ticket,
  version: number,
): Promise<void> => {
  const executionId = executionIds.at(-1);
  if (executionId === undefined) return;
  const { status } = await getExecution(deps.table, { orgId, executionId });
  if (isTerminal(status)) return;
  const message = {
    kind: 'policy',
    origin: 'host',
    trust: 'explicit' as const,
    wake: false,
    human: false,
    text: `The team's policy has changed (version ${version}). Your mandate is what it was; people whom you hear may be others.`,
    cause: `policy ${version}`,
    at: deps.clock.now(),
  };
  await giveMessage(deps, { orgId, ticketId }, message, async () => 'no');
};
