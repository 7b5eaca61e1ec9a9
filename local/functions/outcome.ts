/** How one invocation ended. A function error is a value and no exception: the caller decides what it means. */
export type Outcome =
  | { readonly ok: true; readonly payload: Buffer }
  | { readonly ok: false; readonly error: FunctionError };

/** The body that Lambda answers for a failed invocation. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

export const failed = (errorType: string, errorMessage: string): Outcome => ({
  ok: false,
  error: { errorType, errorMessage },
});

/** Largest request and answer of a synchronous invocation, bytes (Lambda quotas). */
export const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

/** Reads the error body a runtime posted; a body that is none is kept as the message. */
export const parseFunctionError = (body: Buffer): FunctionError => {
  try {
    const { errorType, errorMessage, trace } = JSON.parse(body.toString('utf8')) as { [key: string]: unknown };
    return {
      errorType: typeof errorType === 'string' ? errorType : 'Error',
      errorMessage: typeof errorMessage === 'string' ? errorMessage : '',
      ...(Array.isArray(trace) ? { trace: trace.map(String) } : {}),
    };
  } catch {
    return { errorType: 'Runtime.Unknown', errorMessage: body.toString('utf8').slice(0, 1000) };
  }
};
