import * as z from 'zod';
import type { Outlet } from '../../effect/deliver.ts';
import type { TicketDeps } from './deps.ts';
import { STATUS } from './floor.ts';
import { JOINED, joinedSchema, tellJoined } from './join.ts';
import { POLICY_CHANGED, policyNoticeSchema, tellPolicyChange } from './policy-notice.ts';
import { REPAIR, repairSlots } from './repair.ts';
import { settleTicket } from './settle.ts';

const statusSchema = z.object({ ticketId: z.string(), executionId: z.string() });

/** Everything that the effect function does for tickets. @throws NotYet, or whatever the ports say: it comes again */
export const ticketOutlet =
  (deps: () => TicketDeps): Outlet =>
  async ({ orgId, detailType, detail }) => {
    const said: unknown = JSON.parse(detail);
    switch (detailType) {
      case STATUS:
        return settleTicket(deps(), orgId, statusSchema.parse(said));
      case JOINED:
        return tellJoined(deps(), orgId, joinedSchema.parse(said));
      case POLICY_CHANGED:
        return tellPolicyChange(deps(), orgId, policyNoticeSchema.parse(said));
      case REPAIR:
        return repairSlots(deps(), orgId);
      default:
        throw new Error(`Nobody here knows what ${detailType} means for a ticket.`);
    }
  };
