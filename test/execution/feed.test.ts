import { describe, expect, it } from 'vitest';
import { FEED_ATTRIBUTES, feedItem, readFeedRow } from '../../lib/execution/feed.ts';
import { UnreadableRow } from '../../lib/kernel/errors.ts';
import { executionIdOf, NOW, ORG } from './support.ts';

const row = { seq: 4, n: 101, at: NOW, kind: 'note' as const, content: 'empty', code: 'empty_reply' };
const item = feedItem(ORG, executionIdOf(0), row);

describe('attribute names of the feed', () => {
  const attributes = Object.values(FEED_ATTRIBUTES);

  it('are short, each its own, and none is a key of the table or of an index', () => {
    expect(attributes.filter((name) => name.length > 2)).toEqual([]);
    expect(new Set(attributes).size).toBe(attributes.length);
    expect(attributes).not.toContain('pk');
    expect(attributes).not.toContain('sk');
  });

  it('stand in the row, beside its key alone; the reader gives the long ones back', () => {
    expect(Object.keys(item).filter((name) => !attributes.includes(name))).toEqual(['pk', 'sk']);
    expect(readFeedRow(item)).toEqual({ ...row, v: 1 });
  });

  it('cannot be given by their long names', () => {
    const { [FEED_ATTRIBUTES.code]: _, ...rest } = item;
    expect(() => readFeedRow({ ...rest, pk: item.pk, sk: item.sk, code: 'empty_reply' })).toThrow(UnreadableRow);
    expect(readFeedRow({ ...item, content: 'another' })).toEqual({ ...row, v: 1 });
  });

  it('that are damaged are told by their long names', () => {
    expect(() => readFeedRow({ ...item, [FEED_ATTRIBUTES.content]: 7 })).toThrow(/content/);
  });
});
