/** The places, compared with what they are for. Nothing here is needed while every effect is delivered. */
import { effectIdOf, effectItem } from '../../effect/effect.ts';
import type { Execution } from '../../execution/execution.ts';
import { readExecution } from '../../execution/execution.ts';
import { ifStill } from '../../kernel/if-still.ts';
import { keys } from '../../kernel/keys.ts';
import { and, eq, type Item, missing, set } from '../../kernel/table.ts';
import { ROW_VERSION } from '../../tenancy/row.ts';
import { type TicketDeps, wakeEffects } from './deps.ts';
import { grantNext } from './grant.ts';
import { findTicket, readSlots, repairMark } from './rows.ts';
import { settleTicket } from './settle.ts';

export const REPAIR = 'slots.repair';

/** The effect that repairs the places of an organisation; one an hour at most, whoever asks for it. */
const repairEffect = (orgId: string, now: number) => {
  const hour = Math.floor(now / 3_600_000);
  const effectId = effectIdOf(`${REPAIR} ${orgId} ${hour}`);
  return { effectId, put: effectItem({ effectId, orgId, kind: 'ticket', detailType: REPAIR, detail: '{}', at: now }) };
};

/** For `sweep`: the mark moves on, conditionally, then the repair is asked for. */
export const sweepSlots = async (
  deps: Pick<TicketDeps, 'table' | 'clock' | 'log' | 'effects'>,
  found: Item,
): Promise<void> => {
  const orgId = parseOrganisationPk(found.pk);
  if (orgId === undefined || typeof found.dueSk !== 'string') return;
  const now = deps.clock.now();
  const { dueSk } = repairMark(orgId, now);
  const key = { pk: found.pk, sk: found.sk };
  const seen = and(eq('v', ROW_VERSION), eq('dueSk', found.dueSk));
  if (!(await ifStill(() => deps.table.update(key, [set('dueSk', dueSk)], seen)))) return;
  const { effectId, put } = repairEffect(orgId, now);
  await ifStill(() => deps.table.put(put, missing('pk')));
  await wakeEffects(deps, orgId, [effectId]);
};

const parseOrganisationPk = (pk: string): string | undefined => /^ORG#([^#]+)$/.exec(pk)?.[1];

export const isSlots = ({ pk, sk }: Item): boolean => sk === 'SLOTS' && parseOrganisationPk(pk) !== undefined;

const works = ({ status }: Execution): boolean => status === 'RUNNING' || status === 'WAIT_STEP';

/** Every holder whose worker does not work is settled again; then the queue gets what is free. */
export const repairSlots = async (deps: TicketDeps, orgId: string): Promise<void> => {
  const { holders } = await readSlots(deps.table, orgId);
  for (const { ticketId } of holders) {
    const ticket = await findTicket(deps.table, orgId, ticketId);
    const executionId = ticket?.executionIds.at(-1);
    if (executionId === undefined) continue;
    const item = await deps.table.get(keys.execution(orgId, executionId), { consistent: true });
    if (item !== undefined && !works(readExecution(item))) await settleTicket(deps, orgId, { ticketId, executionId });
  }
  await grantNext(deps, orgId);
};
