/** Where in GitHub an answer goes. The port's `thread` is `<repository id>/issues/<number>`, of pull requests too. */
import { ProviderError, type RemotePost } from '../router/channel.ts';

export interface Address {
  readonly repositoryId: string;
  readonly number: number;
  /** The comment on a line of code that begins the thread of notes. */
  readonly root: number | undefined;
}

/** @throws ProviderError `refused` when it is no address of GitHub */
export const addressOf = (to: { readonly thread: string; readonly root?: string | undefined }): Address => {
  const match = /^([0-9]{1,19})\/(?:issues|pulls)\/([0-9]{1,15})$/.exec(to.thread);
  const root = to.root === undefined ? undefined : Number(to.root);
  if (match?.[1] === undefined || (root !== undefined && !Number.isSafeInteger(root))) {
    throw new ProviderError('refused', `There is no such place at GitHub: ${to.thread.slice(0, 100)}`);
  }
  return { repositoryId: match[1], number: Number(match[2]), root };
};

/**
 * A path below a repository, as it may go into a URL: no segment that leads out of it.
 * @throws ProviderError `refused`
 */
export const safePath = (path: string): string => {
  if (path === '') return '';
  const segments = path.split('/');
  const bad = segments.some((each) => each === '' || /^(\.|%2e){1,2}$/i.test(each) || /[?#\\\s{}]/.test(each));
  if (bad) throw new ProviderError('refused', `That is no path below a repository: ${path.slice(0, 200)}`);
  return `/${segments.join('/')}`;
};

/** A comment as GitHub lists it, as far as it is of use. */
export interface RawComment {
  readonly id: number | bigint;
  readonly html_url?: string;
  readonly body?: string | null;
  readonly user?: { readonly id: number | bigint } | null;
  readonly created_at: string;
}

export const remotePost = (
  { id, html_url, body, user, created_at }: RawComment,
  key: string | undefined,
): RemotePost => ({
  id: String(id),
  ...(html_url !== undefined && { url: html_url }),
  body: body ?? '',
  authorId: user === null || user === undefined ? '' : String(user.id),
  at: Date.parse(created_at),
  ...(key !== undefined && { key }),
});
