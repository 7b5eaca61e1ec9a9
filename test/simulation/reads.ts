/** Rows as the checks read them: the table freezes what it stores, so a row is read once however often they look at it. */
import { readChild as child } from '../../lib/execution/children/child-row.ts';
import { readExecution as execution } from '../../lib/execution/execution.ts';
import { readFeedRow as feedRow } from '../../lib/execution/feed.ts';
import { readAsk as ask, readInput as input } from '../../lib/execution/rows.ts';
import type { Item } from '../../lib/kernel/table.ts';

const once = <Row>(read: (item: Item) => Row): ((item: Item) => Row) => {
  const known = new WeakMap<Item, { readonly row: Row }>();
  return (item) => {
    const found = known.get(item);
    if (found !== undefined) return found.row;
    const row = read(item);
    known.set(item, { row });
    return row;
  };
};

export const readAsk = once(ask);
export const readChild = once(child);
export const readExecution = once(execution);
export const readFeedRow = once(feedRow);
export const readInput = once(input);
