/** What a reading starts from: the repository of the ticket's mandate, and nothing that a model could name. */
import * as z from 'zod';
import { keys } from '../../kernel/keys.ts';
import type { Table } from '../../kernel/table.ts';
import type { ToolContext, ToolResult } from '../../tools/tool.ts';
import { type Provider, ProviderError } from '../channel.ts';
import { refusal } from '../mandate/permits.ts';
import { readSource, type Source } from '../source/source.ts';
import { tellSource } from '../source/told.ts';
import type { Ticket } from '../ticket/ticket.ts';
import { no, ticketOfCall } from '../ticket/tools/context.ts';
import type { RepositoryDeps } from './deps.ts';

export interface Reading {
  readonly ticket: Ticket;
  readonly repositoryId: string;
  /** Below the repository; see `Provider.get`. @throws ProviderError */
  get(path: string, query?: { readonly [name: string]: string }): Promise<unknown>;
}

/** Sources of an organisation are few. */
const MOST_SOURCES = 100;

/** The source whose account reaches the repository: one that names it, before one that names none. */
const sourceOf = async (table: Table, ticket: Ticket, repositoryId: string): Promise<Source | undefined> => {
  const { items } = await table.query({ ...keys.sources(ticket.orgId), limit: MOST_SOURCES, consistent: true });
  const able = items.map(readSource).filter(({ kind, state }) => kind === 'github' && state === 'active');
  const own = new Set(ticket.threads.map(({ sourceId }) => sourceId));
  const rank = ({ id, repositories }: Source): number =>
    (own.has(id) ? 1 : 0) + (repositories?.some((each) => each.id === repositoryId) === true ? 2 : 0);
  const reaches = able.filter(
    ({ repositories }) => repositories === undefined || repositories.some(({ id }) => id === repositoryId),
  );
  return reaches.toSorted((a, b) => rank(b) - rank(a))[0];
};

/**
 * Runs a reading under the ticket's mandate. What the provider refuses is an answer for the model: it can look elsewhere, or
 * report that it is blocked.
 */
export const withRepository = async (
  deps: RepositoryDeps,
  context: ToolContext,
  read: (reading: Reading) => Promise<ToolResult>,
): Promise<ToolResult> => {
  const found = await ticketOfCall(deps, context);
  if ('refused' in found) return found.refused;
  const { ticket } = found;
  const { repositoryId } = ticket.mandate;
  if (repositoryId === undefined) return no('The mandate of this ticket names no repository.');
  const refused = refusal(ticket.mandate, { verb: 'read', repositoryId });
  if (refused !== undefined) return no(refused);
  const source = await sourceOf(deps.table, ticket, repositoryId);
  if (source === undefined) return no('No source that works reaches the repository of this ticket.');
  const provider: Provider = await deps.provider(source, { verb: 'read', repositoryId });
  try {
    return await read({ ticket, repositoryId, get: (path, query) => provider.get(repositoryId, path, query) });
  } catch (error) {
    if (error instanceof ProviderError) return refusedBy(deps, source, error);
    if (error instanceof z.ZodError) return no('The provider gave an answer that is not understood.');
    throw error;
  }
};

const refusedBy = async (deps: RepositoryDeps, source: Source, error: ProviderError): Promise<ToolResult> => {
  const trouble = error.kind === 'unauthorized' || error.code === 'suspended' || error.code === 'not_installed';
  if (trouble) {
    const now = deps.clock.now();
    const tidings = { at: now, state: 'suspended' as const, reason: error.message };
    await tellSource(deps.table, source.orgId, source.id, tidings, now);
    return no('The source refuses to serve us; people have been told. Report that you are blocked.');
  }
  switch (error.kind) {
    case 'gone':
      return no('There is no such thing in the repository.');
    case 'busy':
      return no(`The provider is busy: try again in ${Math.ceil((error.retryAfterMs ?? 60_000) / 1000)} seconds.`);
    case 'refused':
      return no(error.message);
    default:
      return no(`The provider could not be read: ${error.message}`);
  }
};
