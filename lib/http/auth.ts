/** Names in lower case. */
export type Headers = { readonly [name: string]: string | undefined };

/** API Gateway sends lower-case names; other callers of the function may not. */
export const lowerCased = (headers: { readonly [name: string]: string | undefined } | undefined): Headers =>
  Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));

/** The key of a request: `Authorization: Bearer KEY`, else `X-API-Key: KEY`. */
export const apiKeyOf = (headers: Headers): string | undefined => {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '');
  return bearer?.[1] ?? headers['x-api-key'];
};
