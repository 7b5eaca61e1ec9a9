/** What issues and pull requests have in common. */
import * as z from 'zod';
import type { Source } from '../../router/source/source.ts';
import { type Dropped, OWN } from './event.ts';
import { isSelf, type User } from './payload.ts';

export const label = z.object({ id: z.int(), name: z.string() });

const from = z.object({ from: z.string().nullish() }).optional();

/** What an edit replaced. */
export const textEdits = z.object({ title: from, body: from });

/** Other edits (the base branch, for one) are of no concern, and nor is one that was taken back. */
export const isTextEdit = (
  changes: z.output<typeof textEdits> | null | undefined,
  now: { readonly title?: string | undefined; readonly body?: string | null | undefined },
): boolean => {
  const { title, body } = changes ?? {};
  return (
    (title !== undefined && title.from !== now.title) || (body !== undefined && (body.from ?? '') !== (now.body ?? ''))
  );
};

/** Our own words, whoever edits them, and whatever we did; a label that another sets on ours is not our word. */
export const ownWords = (action: string, author: User, sender: User, source: Source): Dropped | undefined => {
  const ours = isSelf(author, source) && (action === 'opened' || action === 'edited');
  return ours || isSelf(sender, source) ? OWN : undefined;
};
