/** Port: one call to a chat model. Adapter: `lib/openai/`. It never retries by itself: retries are the step protocol's. */

export interface ModelClient {
  complete(request: ModelRequest): Promise<ModelOutcome>;
}

/** A model account as the engine uses it; the key never reaches a row, a log or a prompt. */
export interface ModelAccount {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The operator's own endpoint may be private (loopback); a tenant's goes through the guarded fetch. */
  readonly trusted: boolean;
}

export interface ModelRequest {
  readonly account: ModelAccount;
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** Empty: the request carries no `tools` member at all. */
  readonly tools: readonly ToolSpec[];
  /** Demands a call of one of the tools. A provider that knows no such demand is asked without it: judge the reply. */
  readonly toolChoice?: 'required';
  /** Demands JSON of this shape as the text of the reply. As above: the prompt says it too, and the reply is judged. */
  readonly responseSchema?: ResponseSchema;
  readonly maxReplyTokens: number;
  readonly temperature?: number;
  /** Milliseconds until the call is given up. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ResponseSchema {
  /** `[a-z_]+`, at most 64 characters. */
  readonly name: string;
  /** JSON Schema of an object in OpenAI's strict subset: all properties required, no others. */
  readonly schema: { readonly [key: string]: unknown };
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly content: string; readonly toolCallId: string };

/** `arguments` is the raw text the model wrote; it need not be JSON. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: { readonly [key: string]: unknown };
}

/** Tokens as the provider counts them; estimated (`estimated: true`) where it sends no usage. */
export interface ModelUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly estimated?: boolean;
}

export type ModelOutcome =
  | {
      readonly kind: 'reply';
      /** '' when the model wrote none. A refusal's text is in `content` with `refused: true`. */
      readonly content: string;
      readonly toolCalls: readonly ToolCall[];
      /** As the provider sent it: `stop`, `length`, `tool_calls`, `content_filter`, … */
      readonly finishReason: string;
      readonly refused: boolean;
      readonly usage: ModelUsage;
    }
  /** Passing trouble: 408, 409, 429, 5xx, a broken connection, a time-out. `billed`: the provider may charge for it. */
  | {
      readonly kind: 'retry';
      readonly code: 'model_rate_limited' | 'model_unavailable' | 'model_timeout';
      readonly message: string;
      readonly retryAfterMs?: number;
      readonly billed: boolean;
    }
  /** Somebody must mend something. The message is for a person: what the provider said, without secrets. */
  | {
      readonly kind: 'stop';
      readonly code:
        | 'model_unauthorized'
        | 'model_not_found'
        | 'model_bad_request'
        | 'model_quota_exhausted'
        | 'context_length_exceeded'
        | 'model_not_configured';
      readonly message: string;
    }
  /** The caller's signal was aborted. `billed` as above. */
  | { readonly kind: 'aborted'; readonly billed: boolean };
