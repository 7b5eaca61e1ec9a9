import type * as z from 'zod';

/**
 * What a repeat of a call does to the world:
 * - `none`: nothing; - `idempotent`: nothing more, because it carries the call's key or is the same write again;
 * - `unsafe`: it could happen twice, so it runs once or is reported as "outcome unknown".
 */
export type Effect = 'none' | 'idempotent' | 'unsafe';

export interface Tool<Arguments = unknown> {
  /** Function name offered to the model, `[a-z_]+`. */
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Arguments>;
  /** May depend on the arguments and the agent's configuration (a POST to a server that ignores keys is `unsafe`). */
  effect(args: Arguments, config: ToolConfig): Effect;
  /** Offered only to agents whose configuration names it. */
  readonly named?: true;
  /** Calls that name the same resource run in their order; all others may run at once. */
  resource?(args: Arguments): string | undefined;
  /**
   * What a call that was carried out means for the worker's turn: `over`, it now waits for a message; `yield`, it gives back
   * a place that was only lent to it. Asked of tickets' runs alone.
   * @param lent whether the place of this turn is lent
   */
  endsTurn?(args: Arguments, lent: boolean): 'over' | 'yield' | undefined;
  /** Its results are words from outside: a worker's run that has read them is tainted. */
  readonly outside?: true;
  /** Upper bound of one call, seconds. The engine aborts the signal then. */
  readonly timeoutSeconds: number;
  execute(args: Arguments, context: ToolContext): Promise<ToolResult>;
}

/** The parts of the pinned configuration that tools may look at. */
export type ToolConfig = { readonly [key: string]: unknown };

/** `ok: false` is an answer for the model (it may mend its call), not a failure of the step. */
export interface ToolResult {
  readonly ok: boolean;
  readonly text: string;
}

export interface ToolContext {
  /** `<execution>-<seq>-<n>`: the same on every retry of this call. */
  readonly key: string;
  /** Step and call number: versions of files are ordered by them. */
  readonly seq: number;
  readonly n: number;
  readonly config: ToolConfig;
  /** Whose call it is: set by the engine from the run's own row, never from what a model or a configuration says. */
  readonly run?: RunOfCall | undefined;
  readonly files: Files;
  readonly fetch: GuardedFetch;
  readonly signal: AbortSignal;
}

export interface RunOfCall {
  readonly orgId: string;
  readonly executionId: string;
  /** Missing: a run that works for no ticket. */
  readonly ticketId?: string | undefined;
  /** Messages of the run up to this number were in the prompt that led to the call. */
  readonly inputs: number;
}

/** The files of one execution. Paths are relative, checked by `lib/resource/path.ts`. */
export interface Files {
  /** Replaces the file. A version is (seq, n): a late write of an older version changes nothing. */
  write(path: string, content: Uint8Array, version: FileVersion): Promise<void>;
  /** Adds to the end, once per version however often it is called. Creates the file if it is missing. */
  append(path: string, content: Uint8Array, version: FileVersion): Promise<void>;
  /** `undefined` when there is none. */
  read(path: string): Promise<Uint8Array | undefined>;
  delete(path: string, version: FileVersion): Promise<boolean>;
  /** Sorted by path. */
  list(): Promise<readonly FileEntry[]>;
}

export interface FileVersion {
  readonly seq: number;
  readonly n: number;
}

export interface FileEntry {
  readonly path: string;
  readonly bytes: number;
  readonly updatedAt: string;
}

/** Port: HTTP to addresses that a model or a tenant named. Adapter: `lib/net/`. */
export interface GuardedFetch {
  /**
   * @throws EgressRefused with a sentence for the model when the address is not allowed; other errors are network errors.
   */
  fetch(request: {
    readonly method: string;
    readonly url: string;
    readonly headers: { readonly [name: string]: string };
    readonly body?: string | Uint8Array;
    readonly signal: AbortSignal;
    /** Milliseconds for everything, redirects included. */
    readonly timeoutMs: number;
    /** Bytes of body read at most; the rest is cut and `truncated` is set. */
    readonly maxBytes: number;
    /** `none`: an answer that sends elsewhere is the answer. Followed, and each one judged, if left out. */
    readonly redirects?: 'none';
  }): Promise<{
    readonly status: number;
    readonly headers: { readonly [name: string]: string };
    readonly body: Uint8Array;
    readonly truncated: boolean;
    readonly url: string;
  }>;
}
