import { keys } from '../../kernel/keys.ts';
import type { Table, Value } from '../../kernel/table.ts';
import { readSource, type Source } from '../source/source.ts';

/** The organisation's sources by id, strongly read. @throws UnreadableRow */
export const sourcesOf = async (table: Table, orgId: string): Promise<ReadonlyMap<string, Source>> => {
  const sources = new Map<string, Source>();
  let after: Value | undefined;
  do {
    const page = await table.query({
      ...keys.sources(orgId),
      consistent: true,
      ...(after === undefined ? {} : { after }),
    });
    for (const source of page.items.map(readSource)) sources.set(source.id, source);
    after = page.next;
  } while (after !== undefined);
  return sources;
};
