/** The parts of GitHub's payloads that are read here. Everything else in them may change as it likes. */
import * as z from 'zod';
import type { Source } from '../../router/source/source.ts';
import type { NewThread } from '../../router/thread/thread.ts';
import type { NewTrigger } from '../../router/thread/trigger.ts';

/** Milliseconds since the epoch. GitHub writes ISO 8601 and, of installations, seconds too. */
export const time = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => {
    const ms = typeof value === 'number' ? value * 1000 : Date.parse(value ?? '');
    return Number.isFinite(ms) ? ms : undefined;
  });

/** Null: the account was deleted. */
export const user = z.object({ id: z.int(), login: z.string(), type: z.string() }).nullish();
export type User = z.output<typeof user>;

export const repository = z.object({ id: z.int(), full_name: z.string() });
export type Repository = z.output<typeof repository>;

/** It becomes part of a path. */
export const sha = z.string().regex(/^[0-9a-f]{40,64}$/);

/** A comment that an app made in somebody's name. */
export const viaApp = z.object({ id: z.int() }).nullish();

export const issue = z.object({
  id: z.int(),
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  user,
  html_url: z.string().optional(),
  author_association: z.string().optional(),
  /** Present: it is a pull request. */
  pull_request: z.unknown().optional(),
  created_at: time,
  updated_at: time,
  closed_at: time,
});
export type Issue = z.output<typeof issue>;

export const pull = z.object({
  id: z.int(),
  number: z.int(),
  /** Missing in some payloads that only refer to it. */
  title: z.string().optional(),
  body: z.string().nullish(),
  user,
  html_url: z.string().optional(),
  author_association: z.string().optional(),
  head: z.object({ sha: z.string() }),
  merged: z.boolean().nullish(),
  merged_at: time,
  created_at: time,
  updated_at: time,
  closed_at: time,
});
export type Pull = z.output<typeof pull>;

/** Of every payload: enough to see what it is and whether it is ours. */
export const envelope = z.object({
  action: z.string().optional(),
  sender: user,
  installation: z.object({ id: z.int() }).nullish(),
  repository: z.object({ id: z.int() }).nullish(),
});
export type Envelope = z.output<typeof envelope>;

/**
 * Who it was, by number and kind: names are changed, and written differently by each of GitHub's APIs. Kinds that are not
 * known are no people.
 */
export const actorOf = (person: User, association?: string): NewTrigger['actor'] => {
  if (person === null || person === undefined) return { id: '0', type: 'anonymous' };
  const type = person.type === 'User' && !person.login.endsWith('[bot]') ? 'user' : 'bot';
  return { id: String(person.id), type, login: person.login, ...(association !== undefined && { association }) };
};

/** Whoever did it did not write the text: the author, to stand beside the actor. */
export const authorBeside = (author: User, sender: User): { readonly authorId?: string } =>
  author?.id === sender?.id ? {} : { authorId: String(author?.id ?? 0) };

export const isSelf = (person: User, { self }: Source): boolean =>
  person !== null && person !== undefined && String(person.id) === self?.id;

export const isOwnApp = (app: { readonly id: number } | null | undefined, { self }: Source): boolean =>
  app !== null && app !== undefined && String(app.id) === self?.appId;

type Kind = 'issue' | 'pr';

export const threadKey = (repositoryId: number, kind: Kind, number: number): string =>
  `gh:${repositoryId}:${kind}:${number}`;

const discussion = (
  { id }: Repository,
  kind: Kind,
  { number, title, html_url: url }: { number: number; title?: string | undefined; html_url?: string | undefined },
): NewThread => ({
  key: threadKey(id, kind, number),
  title: title ?? `#${number}`,
  replyTo: { thread: `${id}/issues/${number}` },
  repositoryId: String(id),
  ...(url !== undefined && { url }),
});

/** Pull requests are issues too and come as such in the events of their comments. */
export const threadOfIssue = (where: Repository, what: Issue): NewThread =>
  discussion(where, what.pull_request ? 'pr' : 'issue', what);

export const threadOfPull = (where: Repository, what: Omit<Parameters<typeof discussion>[2], never>): NewThread =>
  discussion(where, 'pr', what);

/** Title and body as one text. */
export const titled = (title: string | undefined, body: string | null | undefined): string =>
  [title ?? '', body ?? ''].filter((part) => part.trim() !== '').join('\n\n');
