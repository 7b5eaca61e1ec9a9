/** Keys of the Router's rows; part of the page in `keys.ts`, through which everybody takes them. */
import { org, padded } from './key-parts.ts';
import type { Key } from './table.ts';

const sourcePk = (orgId: string, sourceId: string): string => `${org(orgId)}#SOURCE#${sourceId}`;
const threadPk = (orgId: string, threadId: string): string => `${org(orgId)}#THREAD#${threadId}`;
const ticketPk = (orgId: string, ticketId: string): string => `${org(orgId)}#TICKET#${ticketId}`;

export const routerKeys = {
  source: (orgId: string, sourceId: string): Key => ({ pk: org(orgId), sk: `SOURCE#${sourceId}` }),
  sources: (orgId: string) => ({ pk: org(orgId), prefix: 'SOURCE#' }),
  sourceLookup: (sourceId: string): Key => ({ pk: `SOURCE#${sourceId}`, sk: 'SOURCE' }),
  delivery: (orgId: string, sourceId: string, deliveryId: string): Key => ({
    pk: sourcePk(orgId, sourceId),
    sk: `DELIVERY#${deliveryId}`,
  }),
  deliveries: (orgId: string, sourceId: string) => ({ pk: sourcePk(orgId, sourceId), prefix: 'DELIVERY#' }),
  seenDelivery: (orgId: string, sourceId: string, sha256: string): Key => ({
    pk: sourcePk(orgId, sourceId),
    sk: `SEEN#${sha256}`,
  }),
  refusedDeliveries: (orgId: string, sourceId: string, hour: string): Key => ({
    pk: sourcePk(orgId, sourceId),
    sk: `REFUSED#${hour}`,
  }),
  alias: (orgId: string, sourceId: string, key: string): Key => ({
    pk: sourcePk(orgId, sourceId),
    sk: `ALIAS#${encodeURIComponent(key.toWellFormed())}`,
  }),
  policy: (orgId: string): Key => ({ pk: org(orgId), sk: 'POLICY' }),
  policyVersion: (orgId: string, version: number): Key => ({
    pk: `${org(orgId)}#POLICY`,
    sk: `VERSION#${padded(version, 6)}`,
  }),
  policyVersions: (orgId: string) => ({ pk: `${org(orgId)}#POLICY`, prefix: 'VERSION#' }),
  thread: (orgId: string, threadId: string): Key => ({ pk: threadPk(orgId, threadId), sk: 'THREAD' }),
  trigger: (orgId: string, threadId: string, triggerId: string): Key => ({
    pk: threadPk(orgId, threadId),
    sk: `TRIGGER#${triggerId}`,
  }),
  triggers: (orgId: string, threadId: string) => ({ pk: threadPk(orgId, threadId), prefix: 'TRIGGER#' }),
  pendingTrigger: (orgId: string, threadId: string, triggerId: string): Key => ({
    pk: threadPk(orgId, threadId),
    sk: `PENDING#${triggerId}`,
  }),
  pendingTriggers: (orgId: string, threadId: string) => ({ pk: threadPk(orgId, threadId), prefix: 'PENDING#' }),
  subscription: (orgId: string, threadId: string, ticketId: string): Key => ({
    pk: threadPk(orgId, threadId),
    sk: `SUBSCRIPTION#${ticketId}`,
  }),
  subscriptions: (orgId: string, threadId: string) => ({ pk: threadPk(orgId, threadId), prefix: 'SUBSCRIPTION#' }),
  evalReply: (orgId: string, threadId: string, epoch: number, round: number): Key => ({
    pk: threadPk(orgId, threadId),
    sk: `EVAL#${padded(epoch, 9)}#${padded(round, 2)}`,
  }),
  evalReplies: (orgId: string, threadId: string, epoch: number) => ({
    pk: threadPk(orgId, threadId),
    prefix: `EVAL#${padded(epoch, 9)}#`,
  }),
  decision: (orgId: string, decisionId: string): Key => ({ pk: `${org(orgId)}#DECISION`, sk: decisionId }),
  decisions: (orgId: string) => ({ pk: `${org(orgId)}#DECISION`, prefix: 'dec_' }),
  ticket: (orgId: string, ticketId: string): Key => ({ pk: ticketPk(orgId, ticketId), sk: 'TICKET' }),
  report: (orgId: string, ticketId: string, number: number): Key => ({
    pk: ticketPk(orgId, ticketId),
    sk: `REPORT#${padded(number, 6)}`,
  }),
  reports: (orgId: string, ticketId: string) => ({ pk: ticketPk(orgId, ticketId), prefix: 'REPORT#' }),
  digest: (orgId: string, ticketId: string): Key => ({ pk: ticketPk(orgId, ticketId), sk: 'DIGEST' }),
  /** What is done once for a ticket however often it is asked for: a message given, a call of a tool. */
  ticketDone: (orgId: string, ticketId: string, sha256: string): Key => ({
    pk: ticketPk(orgId, ticketId),
    sk: `DONE#${sha256}`,
  }),
  slots: (orgId: string): Key => ({ pk: org(orgId), sk: 'SLOTS' }),
  posting: (orgId: string, postingId: string): Key => ({ pk: `${org(orgId)}#POSTING#${postingId}`, sk: 'POSTING' }),
} as const;
