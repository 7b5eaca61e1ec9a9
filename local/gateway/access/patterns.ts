/** IAM's wildcards: `*` is any text (slashes and colons too), `?` one character. */
export function wildcard(pattern: string, options: { readonly ignoreCase?: boolean } = {}): (text: string) => boolean {
  if (!/[*?]/.test(pattern)) {
    if (options.ignoreCase !== true) return (text) => text === pattern;
    const lower = pattern.toLowerCase();
    return (text) => text.toLowerCase() === lower;
  }
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  const expression = new RegExp(`^${source}$`, options.ignoreCase === true ? 'is' : 's');
  return (text) => expression.test(text);
}

/** `ArnLike`: each of the six parts of an ARN is matched by itself, so that a `*` cannot run over a colon. */
export function arnLike(pattern: string): (text: string) => boolean {
  const parts = splitArn(pattern).map((part) => wildcard(part));
  return (text) => {
    const given = splitArn(text);
    return given.length === parts.length && parts.every((matches, i) => matches(given[i] ?? ''));
  };
}

function splitArn(arn: string): string[] {
  const parts = arn.split(':');
  return parts.length <= 6 ? parts : [...parts.slice(0, 5), parts.slice(5).join(':')];
}
