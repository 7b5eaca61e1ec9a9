import type { Posting } from './posting.ts';

/** What stands in the comment: of a document the text and, below it, how the work stands. */
export const render = ({ body, note }: Pick<Posting, 'body' | 'note'>): string =>
  note === undefined || note === '' ? body : `${body}\n\n---\n\n${note}`;
