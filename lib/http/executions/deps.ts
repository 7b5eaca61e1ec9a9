import type { StartDeps } from '../../execution/start.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Blobs } from '../../kernel/ports.ts';
import type { Files } from '../../tools/tool.ts';

/** What the execution routes need below them. */
export interface ServiceDeps extends StartDeps {
  readonly blobs: Blobs;
  readonly ids: Ids;
  readonly filesOf: (orgId: string, executionId: string) => Files;
  /** True when an operator's or the organisation's own model is there. */
  readonly modelConfigured: (orgId: string) => Promise<boolean>;
}
