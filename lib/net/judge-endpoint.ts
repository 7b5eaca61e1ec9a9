import { EgressRefused } from '../tools/egress-refused.ts';
import { makeAddressRules } from './address-rules.ts';
import { checkUrl, hostAndPort } from './check-url.ts';

/**
 * Judges where a tenant wants something sent to: https, or what stands on the allow list. What a name leads to is judged when it is
 * connected.
 * @param allow `host:port` entries that may be reached although they are private, over http too
 * @returns why not, as a sentence; `undefined` when it may be used
 */
export const makeEndpointJudge = (
  allow: readonly string[],
  never: readonly string[] = [process.env.AWS_LAMBDA_RUNTIME_API ?? ''],
): ((url: string) => string | undefined) => {
  const rules = makeAddressRules(allow, never);
  return (text) => {
    try {
      const url = checkUrl(text, rules);
      const { host, port } = hostAndPort(url);
      if (url.protocol === 'https:' || rules.isAllowed(host, port)) return undefined;
      return 'The URL begins with http:, and anybody on the way could read or change what is sent.';
    } catch (error) {
      if (error instanceof EgressRefused) return error.message;
      throw error;
    }
  };
};
