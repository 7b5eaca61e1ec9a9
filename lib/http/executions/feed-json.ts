import type { FeedRow } from '../../execution/feed.ts';
import type { FeedRowView } from '../execution-views.ts';
import { iso } from './execution-json.ts';

export const feedRowJson = (row: FeedRow): FeedRowView => {
  const place = { seq: row.seq, n: row.n, content: row.content, createdAt: iso(row.at) };
  switch (row.kind) {
    case 'user':
      return { ...place, role: 'user' };
    case 'note':
    case 'step':
      return { ...place, role: 'system' };
    case 'summary':
      return { ...place, role: 'system', content: `Summary of the steps before ${row.upTo}:\n${row.content}` };
    case 'reply':
      return { ...place, role: 'assistant', ...(row.calls.length > 0 && { toolCalls: row.calls }) };
    case 'tool':
      return { ...place, role: 'tool', toolCallId: row.callId };
  }
};
