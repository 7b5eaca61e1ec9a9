import type { Tool } from '../../../tools/tool.ts';
import type { ToolDeps } from './context.ts';
import { makeRead } from './read.ts';
import { makeReply } from './reply.ts';
import { makeReport } from './report.ts';

/** The tools that every worker has besides those of its configuration; nobody else is offered them. */
export const workerToolkit = (deps: ToolDeps): readonly Tool[] => [makeReport(deps), makeReply(deps), makeRead(deps)];
