import { keys } from '../../../lib/kernel/keys.ts';
import type { Item, Value } from '../../../lib/kernel/table.ts';
import { repositoryTools } from '../../../lib/router/repository/tools.ts';
import { makeRow } from '../../../lib/tenancy/row.ts';
import { parseArguments } from '../../../lib/tools/run.ts';
import type { ToolContext, ToolResult } from '../../../lib/tools/tool.ts';
import { githubSource, makeWorld } from '../../github/world.ts';
import { makeMemoryLog } from '../../support/memory-log.ts';
import { makeMemoryTable } from '../../support/memory-table.ts';
import { ticketRow } from '../outbox/support/world.ts';

/** The tools of a worker whose mandate is for repository 501, over a GitHub. */
export const makeReader = async (
  mandate: { readonly [name: string]: Value } = {},
  ticket: { readonly [name: string]: Value } = {},
) => {
  const world = await makeWorld();
  const table = makeMemoryTable(world.clock.now);
  const source = githubSource(world.github, { repositories: [{ id: '501', fullName: 'acme/shop' }] });
  const { orgId, id } = source;
  const attributes = JSON.parse(JSON.stringify(source)) as { readonly [name: string]: Value };
  await table.put(makeRow(keys.source(orgId, id), attributes));
  const row = ticketRow(ticket, mandate);
  // What a test gives as undefined is missing.
  await table.put(JSON.parse(JSON.stringify(row)) as Item);
  const tools = repositoryTools({
    table,
    clock: world.clock,
    log: makeMemoryLog(),
    provider: async (_, needs) => world.provider(needs, { repositories: source.repositories }),
  });
  const context = (run: Partial<ToolContext['run']> = {}): ToolContext =>
    ({
      run: { orgId, executionId: 'exe_1', ticketId: 'tkt_1', inputs: 0, ...run },
      config: {},
    }) as unknown as ToolContext;
  const call = async (name: string, args: object, run?: Partial<ToolContext['run']>): Promise<ToolResult> => {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) throw new Error(`There is no ${name}.`);
    const parsed = parseArguments(tool, JSON.stringify(args));
    return parsed.ok ? tool.execute(parsed.args, context(run)) : { ok: false, text: parsed.problem };
  };
  return {
    ...world,
    table,
    tools,
    call,
    row: (key: Parameters<typeof table.get>[0]): Promise<Item | undefined> => table.get(key),
    orgId,
    sourceId: id,
  };
};
