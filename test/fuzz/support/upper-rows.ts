/** The same for the rows of the floors above the step. */
import { childItem, readChild } from '../../../lib/execution/children/child-row.ts';
import { keys } from '../../../lib/kernel/keys.ts';
import { readSchedule, scheduleItem } from '../../../lib/schedule/schedule.ts';
import { readTemplate, templateItem } from '../../../lib/template/template.ts';
import { makeRow } from '../../../lib/tenancy/row.ts';
import { newDeliveryItem, readDelivery } from '../../../lib/webhook/delivery.ts';
import { readEndpoint } from '../../../lib/webhook/endpoint.ts';
import { gateItem, readGate } from '../../../lib/webhook/gate.ts';
import { workflowDefinitionSchema } from '../../../lib/workflow/definition.ts';
import { headItem, nameItem, readHead, readName, readVersion, versionItem } from '../../../lib/workflow/rows.ts';
import { AGENT, NOW, ORG } from './engine.ts';
import { EXECUTION, type Kind } from './rows.ts';

const AT = new Date(NOW).toISOString();
const SCHEDULE = 'sch_00000000000000000000000000';
const WEBHOOK = 'whk_00000000000000000000000000';
const WORKFLOW = 'wfl_00000000000000000000000000';

const definition = workflowDefinitionSchema.parse({
  name: 'mine',
  start: 'work',
  steps: {
    work: { kind: 'ITERATION', iteration: 'inner', next: { default: 'work', COMPLETE: 'end' } },
    end: { kind: 'END' },
  },
  iterations: { inner: { start: 'do', steps: { do: { prompt: 'Reach {goals}', output: 'tools' } } } },
});

export const UPPER_KINDS: readonly Kind[] = [
  {
    name: 'schedule',
    read: readSchedule,
    item: scheduleItem({
      id: SCHEDULE,
      orgId: ORG,
      agentId: AGENT,
      version: 3,
      state: 'ACTIVE',
      reason: { code: 'agent_deleted', message: 'm' },
      startAt: NOW,
      every: 'PT1H',
      timezone: 'UTC',
      expiresAt: NOW + 1_000_000,
      maxRuns: 9,
      overlap: 'queue',
      misfire: 'skip',
      goals: ['g'],
      instructions: ['i'],
      nextAt: NOW + 1_000,
      runs: 2,
      current: EXECUTION,
      pending: NOW,
      lastFire: { dueAt: NOW, at: NOW, outcome: 'started', executionId: EXECUTION },
      createdAt: AT,
      createdBy: 'key',
      updatedAt: AT,
      dueSk: `${AT}#${SCHEDULE}`,
      backoff: 60_000,
    }),
  },
  {
    name: 'child run',
    read: readChild,
    item: childItem(
      { orgId: ORG, executionId: EXECUTION },
      { executionId: EXECUTION, agentId: AGENT, seq: 4, n: 101, budget: 5, rootId: EXECUTION, at: NOW },
    ),
  },
  {
    name: 'webhook endpoint',
    read: readEndpoint,
    item: makeRow(keys.webhook(ORG, WEBHOOK), {
      id: WEBHOOK,
      orgId: ORG,
      url: 'https://example.com/',
      events: ['execution.status_changed'],
      description: 'd',
      headerNames: ['x-mine'],
      state: 'disabled',
      reason: 'failing',
      disabledAt: NOW,
      secretRef: 's',
      createdAt: AT,
      updatedAt: AT,
      createdBy: 'key',
    }),
  },
  {
    name: 'delivery of a webhook',
    read: readDelivery,
    item: newDeliveryItem(ORG, WEBHOOK, { id: 'eff_1', type: 'budget.warning', at: NOW, sequence: 2, data: {} }, NOW),
  },
  {
    name: 'gate of a webhook',
    read: readGate,
    item: gateItem({
      v: 1,
      orgId: ORG,
      webhookId: WEBHOOK,
      rev: 2,
      failures: 1,
      well: true,
      since: NOW,
      open: false,
      probes: 0,
      probeAt: NOW,
      releasing: 1,
      places: [{ deliveryId: 'dlv_1', until: NOW }],
    }),
  },
  {
    name: 'workflow',
    read: readHead,
    item: headItem(ORG, { id: WORKFLOW, name: 'mine', description: 'd', version: 2, createdAt: AT, updatedAt: AT }),
  },
  { name: 'name of a workflow', read: readName, item: nameItem(ORG, 'mine', { id: WORKFLOW, version: 2 }) },
  {
    name: 'version of a workflow',
    read: readVersion,
    apart: ['json'],
    item: versionItem(ORG, { id: WORKFLOW, version: 2, definition, createdBy: 'key', createdAt: AT }),
  },
  {
    name: 'template',
    read: readTemplate,
    apart: ['config', 'definition'],
    item: templateItem(ORG, {
      id: 'tpl_00000000000000000000000000',
      name: 't',
      description: 'd',
      workflow: 'mine',
      definition,
      config: { goals: ['g'] },
      createdAt: AT,
      createdBy: 'key',
    }),
  },
];
