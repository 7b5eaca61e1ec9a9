import * as z from 'zod';
import { closeAttention, openAttention } from '../attention/attention.ts';
import type { Item, Write } from '../kernel/table.ts';
import { readRow } from '../tenancy/row.ts';

/** What an endpoint can ask for. */
export const EVENT_TYPES = [
  'execution.status_changed',
  'permission.requested',
  'question.asked',
  'budget.warning',
  'ticket.phase_changed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** `requested`: by a person. `failing`: nothing but failures for days. `gone`: it answered 410. */
export const DISABLED_REASONS = ['requested', 'failing', 'gone'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

const rowSchema = z.object({
  id: z.string(),
  orgId: z.string(),
  url: z.string(),
  /** Any word: a newer version may know more. */
  events: z.array(z.string()),
  description: z.string().optional(),
  /** Names of the custom headers; the values are a secret. */
  headerNames: z.array(z.string()),
  state: z.enum(['enabled', 'disabled']),
  reason: z.enum(DISABLED_REASONS).optional(),
  /** Milliseconds since the epoch; also what the attention item is known by. */
  disabledAt: z.number().optional(),
  /** Which document of secrets counts. */
  secretRef: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  createdBy: z.string().optional(),
});
export type Endpoint = z.output<typeof rowSchema>;

/** @throws UnreadableRow */
export const readEndpoint = (item: Item): Endpoint => readRow(rowSchema, item);

export const wants = (endpoint: Endpoint, type: EventType): boolean =>
  endpoint.state === 'enabled' && endpoint.events.includes(type);

const causeOf = ({ orgId, id, disabledAt }: Endpoint) => ({
  orgId,
  kind: 'webhook_disabled' as const,
  subject: { type: 'webhook', id },
  at: disabledAt ?? 0,
});

const WHY: { readonly [reason in DisabledReason]: string } = {
  requested: 'A person disabled it.',
  failing: 'Every attempt failed for five days.',
  gone: 'It answered 410 Gone.',
};

/** Why a delivery is given up whose endpoint is disabled; what its own last attempt came to stands before it. */
export const disabledSentence = ({ reason = 'failing' }: Endpoint, lastError: string | undefined): string => {
  const disabled = `The webhook is disabled. ${WHY[reason]}`;
  return lastError === undefined || lastError.includes(disabled) ? (lastError ?? disabled) : `${lastError} ${disabled}`;
};

/** The one place where an endpoint asks for a person: writes for the transaction that disables it by itself. */
export const attentionFor = (endpoint: Endpoint): readonly Write[] => [
  openAttention({
    ...causeOf(endpoint),
    question: `The webhook ${endpoint.id} was disabled. ${WHY[endpoint.reason ?? 'failing']} Is its receiver mended?`,
    url: `/v1/webhooks/${endpoint.id}`,
    actions: [
      { label: 'Enable', method: 'PATCH', path: `/v1/webhooks/${endpoint.id}`, body: { state: 'enabled' } },
      { label: 'Delete', method: 'DELETE', path: `/v1/webhooks/${endpoint.id}` },
    ],
  }),
];

/** For the transaction that enables or deletes it, or in which a person takes the disabling over. */
export const attentionOver = (endpoint: Endpoint): readonly Write[] =>
  endpoint.disabledAt === undefined || endpoint.reason === 'requested' ? [] : [closeAttention(causeOf(endpoint))];
