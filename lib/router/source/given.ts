/** What people say of a source, and what of it cannot be. Pure. */
import { createPrivateKey } from 'node:crypto';
import type { FieldError } from '../../kernel/errors.ts';
import { MOST_SECRET_BYTES, secretBytes } from './secrets.ts';
import type { Source, SourceSecrets } from './source.ts';

/** Kinds that can be made; the others find their places ready. */
export type GivenKind = 'github' | 'http';

/** Everything but the kind may be changed later. What is `undefined` stays as it is. */
export interface SourceChange {
  readonly name?: string | undefined;
  readonly self?: Source['self'];
  readonly repositories?: Source['repositories'];
  readonly installationId?: string | undefined;
  readonly appId?: string | undefined;
  readonly apiBaseUrl?: string | undefined;
  readonly replyUrl?: string | undefined;
  /** What signs what comes, the newest first; all of them count. Each kind has a name of its own for them. */
  readonly webhookSecrets?: readonly string[] | undefined;
  readonly secrets?: readonly string[] | undefined;
  /** PEM. It and `token` stand for each other: who gives one takes the other away. */
  readonly privateKey?: string | undefined;
  readonly token?: string | undefined;
}

export interface GivenSource extends SourceChange {
  readonly kind: GivenKind;
  readonly name: string;
}

type Described = Pick<
  Source,
  'kind' | 'self' | 'repositories' | 'installationId' | 'appId' | 'signsInBy' | 'apiBaseUrl' | 'replyUrl'
>;

/** The secrets with a change. */
export const secretsAfter = (before: SourceSecrets, change: SourceChange): SourceSecrets => {
  const given = change.token !== undefined || change.privateKey !== undefined;
  const { token, privateKey } = given ? change : before;
  return {
    signing: [...(change.webhookSecrets ?? change.secrets ?? before.signing)],
    ...(privateKey !== undefined && { privateKey }),
    ...(token !== undefined && { token }),
  };
};

const MEMBERS = ['self', 'repositories', 'installationId', 'appId', 'apiBaseUrl', 'replyUrl'] as const;
type Members = Pick<Source, (typeof MEMBERS)[number]>;

/** Those that have a value. */
const membersOf = (from: { readonly [name in keyof Members]?: Members[name] | undefined }): Members =>
  Object.fromEntries(MEMBERS.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));

/** The part of the row that people describe, with a change. */
export const describedAfter = (before: Described, change: SourceChange, secrets: SourceSecrets): Described => {
  const members = { ...membersOf(before), ...membersOf(change) };
  const next = { kind: before.kind, ...members, signsInBy: signsInBy(secrets) };
  // An app's own checks carry its id: without it they would come back as somebody else's.
  const own = next.self?.appId ?? next.appId;
  return own === undefined || next.self === undefined ? next : { ...next, self: { ...next.self, appId: own } };
};

const signsInBy = ({ privateKey, token }: SourceSecrets): Source['signsInBy'] => {
  if (privateKey !== undefined) return 'app';
  return token === undefined ? 'none' : 'token';
};

const wrong = (field: string, received: string, expected: string): FieldError => ({ field, received, expected });

/**
 * What is wrong with a source as it would be, field by field as the API names them.
 * @param change what makes it so
 * @param judgeUrl why an address may not be used; `undefined` when it may
 */
export const sourceErrors = (
  source: Described,
  secrets: SourceSecrets,
  change: SourceChange,
  judgeUrl: (url: string) => string | undefined,
): readonly FieldError[] => {
  const size = secretBytes(secrets);
  const [signing, strange, others] =
    source.kind === 'github'
      ? (['webhookSecrets', 'secrets', 'http'] as const)
      : (['secrets', 'webhookSecrets', 'github'] as const);
  const tooLong = `secrets and keys of at most ${MOST_SECRET_BYTES} bytes together`;
  return [
    ...urlErrors('apiBaseUrl', source.apiBaseUrl, judgeUrl),
    ...urlErrors('replyUrl', source.replyUrl, judgeUrl),
    ...(source.kind === 'github' ? githubErrors(source, secrets) : foreign(source, secrets)),
    ...(change[strange] === undefined ? [] : [wrong(strange, 'a value', `nothing: it is of ${others} sources`)]),
    ...(secrets.signing.length === 0 ? [wrong(signing, 'none', 'at least one secret')] : []),
    ...(size > MOST_SECRET_BYTES ? [wrong(signing, `${size} bytes in all`, tooLong)] : []),
  ];
};

const urlErrors = (
  field: string,
  url: string | undefined,
  judgeUrl: (url: string) => string | undefined,
): readonly FieldError[] => {
  const refused = url === undefined ? undefined : judgeUrl(url);
  return refused === undefined ? [] : [wrong(field, 'an address that cannot be used', refused)];
};

const NUMBER = /^[1-9][0-9]{0,19}$/;

const githubErrors = (source: Described, { privateKey, token }: SourceSecrets): readonly FieldError[] => {
  const { self, appId, installationId, replyUrl } = source;
  const number = (field: string, value: string | undefined): readonly FieldError[] =>
    value === undefined || NUMBER.test(value) ? [] : [wrong(field, 'another text', "GitHub's number of it, as text")];
  const missing = (field: string, value: string | undefined): readonly FieldError[] =>
    privateKey !== undefined && value === undefined ? [wrong(field, 'nothing', 'needed beside privateKey')] : [];
  return [
    ...(self === undefined ? [wrong('self', 'nothing', 'who we are there: {id, login}')] : []),
    ...(self !== undefined && !self.login ? [wrong('self.login', 'nothing', 'the name that people mention')] : []),
    ...number('self.id', self?.id),
    ...number('self.appId', self?.appId),
    ...number('appId', appId),
    ...number('installationId', installationId),
    ...(source.repositories ?? []).flatMap(({ id }, index) => number(`repositories[${index}].id`, id)),
    ...missing('appId', appId),
    ...missing('installationId', installationId),
    ...(privateKey !== undefined && token !== undefined ? [wrong('token', 'both', 'privateKey or token')] : []),
    ...(privateKey !== undefined && !isPrivateKey(privateKey)
      ? [wrong('privateKey', 'a text that is no key', 'an RSA private key as PEM')]
      : []),
    ...(replyUrl === undefined ? [] : [wrong('replyUrl', 'an address', 'nothing: it is of http sources')]),
  ];
};

const isPrivateKey = (pem: string): boolean => {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
};

/** What an `http` source has not. */
const foreign = (source: Described, { privateKey, token }: SourceSecrets): readonly FieldError[] =>
  Object.entries({
    self: source.self,
    repositories: source.repositories,
    installationId: source.installationId,
    appId: source.appId,
    apiBaseUrl: source.apiBaseUrl,
    privateKey,
    token,
  }).flatMap(([field, value]) =>
    value === undefined ? [] : [wrong(field, 'a value', 'nothing: it is of github sources')],
  );

/** What was given for one host goes to no other: a key that may change sources must not read their credentials. */
export const needsCredentialsAgain = (
  before: Pick<Source, 'apiBaseUrl' | 'signsInBy'>,
  { apiBaseUrl, token, privateKey }: SourceChange,
): boolean => {
  if (apiBaseUrl === undefined || before.signsInBy === 'none') return false;
  if (token !== undefined || privateKey !== undefined) return false;
  return originOf(apiBaseUrl) !== originOf(before.apiBaseUrl ?? 'https://api.github.com');
};

const originOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined);
