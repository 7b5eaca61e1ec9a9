import { makeFiles } from '../../lib/resource/files.ts';
import type { GuardedFetch, Tool, ToolConfig, ToolContext, ToolResult } from '../../lib/tools/tool.ts';
import { makeMemoryBlobs } from '../support/memory-blobs.ts';
import { makeMemoryTable } from '../support/memory-table.ts';

const noFetch: GuardedFetch = {
  fetch: () => Promise.reject(new Error('This test reaches no network.')),
};

/** Runs tools one after the other, each as a call of its own step, over files in memory. */
export const makeToolRun = (options: { fetch?: GuardedFetch; config?: ToolConfig; signal?: AbortSignal } = {}) => {
  const files = makeFiles({
    table: makeMemoryTable(),
    blobs: makeMemoryBlobs(),
    clock: { now: () => 0 },
    orgId: 'org_1',
    executionId: 'exe_1',
  });
  let seq = 0;
  const context = (): ToolContext => ({
    key: `exe_1-${++seq}-0`,
    seq,
    n: 0,
    config: options.config ?? {},
    files,
    fetch: options.fetch ?? noFetch,
    signal: options.signal ?? new AbortController().signal,
  });
  return {
    files,
    /** A version for changes beside the calls: after the last call, before the next. */
    between: () => ({ seq, n: 1 }),
    run: <Arguments>(tool: Tool<Arguments>, args: Arguments): Promise<ToolResult> => tool.execute(args, context()),
  };
};
