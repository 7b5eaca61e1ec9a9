/**
 * What a worker's reports become in the discussion; what it replies is the body of its one comment there. A comment of its own notifies people, so there is one only where a person
 * must be notified; everything else is an edit of the ticket's one comment (router-bugs E49).
 */
import type { ReportState } from '../ticket/ticket.ts';

/**
 * `body`: the text of the ticket's comment, which the first one creates. `note`: the line below it, which never creates.
 * `post`: a comment of its own. `review`: a review is requested and nothing is said.
 */
export type Speech = 'body' | 'note' | 'post' | 'review' | 'nothing';

/** @param on what a `waiting` one waits for */
export const speechOf = (report: ReportState, on?: 'person' | 'event'): Speech => {
  switch (report) {
    case 'waiting':
      return on === 'person' ? 'post' : 'note';
    case 'blocked':
    case 'failed':
      return 'post';
    case 'ready':
      return 'review';
    case 'progress':
    case 'dropped':
      return 'note';
  }
};
