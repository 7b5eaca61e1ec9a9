/** What a user can be told. `lib/http` maps it to RFC 9457; nothing else decides a status code. */
export class AppError extends Error {
  override readonly name: string = 'AppError';
  /** Stable, snake_case; part of the contract. */
  readonly code: string;
  readonly status: number;
  /** Further members of the problem document (field errors, states, ids). Never a secret. */
  readonly details: { readonly [key: string]: unknown };
  constructor(
    status: number,
    code: string,
    message: string,
    details: { readonly [key: string]: unknown } = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** One field that does not fit: where, what shape came, what was expected. */
export interface FieldError {
  readonly field: string;
  readonly received: string;
  readonly expected: string;
}

export const badRequest = (message: string, errors: readonly FieldError[] = [], code = 'bad_request'): AppError =>
  new AppError(400, code, message, errors.length > 0 ? { errors } : {});
export const notFound = (what: string): AppError => new AppError(404, 'not_found', `There is no such ${what}.`);
export const conflict = (code: string, message: string, details: { readonly [key: string]: unknown } = {}): AppError =>
  new AppError(409, code, message, details);

/**
 * The table holds a row that this version of the code does not understand (a newer writer, or damage). It is never
 * half-read: the request or message that met it stops, and the row stays as it is.
 */
export class UnreadableRow extends Error {
  override readonly name = 'UnreadableRow';
  constructor(key: { readonly pk: string; readonly sk: string }, why: string, cause?: unknown) {
    super(`The row ${key.pk} / ${key.sk} cannot be read: ${why}`, cause === undefined ? undefined : { cause });
  }
}
