import { listAttention } from '../../attention/list.ts';
import { listExecutions } from '../../execution/list.ts';
import { STALL_MS } from '../../execution/mark.ts';
import { due } from '../../kernel/keys.ts';
import { routerChecks } from '../../router/status/checks.ts';
import { heldSince } from '../../tenancy/organisation.ts';
import type { StatusReport } from '../execution-views.ts';
import type { ServiceDeps } from './deps.ts';

type Check = StatusReport['checks'][number];
const LOOKED_AT = 100;

/**
 * How an organisation stands: 0 well, 1 heals by itself, 2 a person should look, 3 nothing can work, or only a person can
 * judge it. Reads and changes nothing.
 */
export const organisationStatus = async (deps: ServiceDeps, orgId: string): Promise<StatusReport> => {
  const [model, held, running, broken, stopped, router] = await Promise.all([
    deps.modelConfigured(orgId),
    heldSince(deps.table, orgId),
    listExecutions(deps, orgId, { status: 'RUNNING' }, { limit: LOOKED_AT }),
    listExecutions(deps, orgId, { status: 'ERROR_PAUSED' }, { limit: LOOKED_AT }),
    listAttention(deps, orgId, { kind: 'schedule_stopped' }, { limit: LOOKED_AT }),
    routerChecks(deps, orgId),
  ]);
  const late = deps.clock.now() - STALL_MS;
  const stalled = running.items.filter((each) => each.dueSk !== undefined && due.at(each.dueSk) < late);
  const checks: Check[] = [
    {
      name: 'model',
      code: model ? 0 : 3,
      detail: model ? 'A model is configured.' : 'No model is configured: PUT /v1/providers/{name}.',
    },
    {
      name: 'organisation',
      code: held === undefined ? 0 : 2,
      detail:
        held === undefined
          ? 'Nothing is held.'
          : `Everything is held since ${new Date(held).toISOString()}: POST /v1/organisation/resume.`,
    },
    {
      name: 'chains',
      code: stalled.length === 0 ? 0 : 1,
      detail:
        stalled.length === 0
          ? `${running.items.length} running, none stands still.`
          : `${stalled.length} running executions stand still; the sweep sends them again. First: ${stalled[0]?.executionId}.`,
    },
    {
      name: 'errors',
      code: broken.items.length === 0 ? 0 : 2,
      detail:
        broken.items.length === 0
          ? 'No execution waits for a mend.'
          : `${broken.items.length} executions are ERROR_PAUSED. First: ${broken.items[0]?.executionId}: ${broken.items[0]?.errorMessage ?? ''}`,
    },
    {
      name: 'schedules',
      code: stopped.items.length === 0 ? 0 : 2,
      detail:
        stopped.items.length === 0
          ? 'No schedule has stopped by itself.'
          : `${stopped.items.length} schedules stopped by themselves: GET /v1/attention. First: ${stopped.items[0]?.question ?? ''}`,
    },
    ...router,
  ];
  const code = Math.max(...checks.map((check) => check.code));
  return { code: code as StatusReport['code'], checks };
};
