import { expect, test } from 'vitest';
import { allTools } from '../../lib/tools/toolkit.ts';
import { TOOLKITS } from '../../lib/tools/toolkits.ts';

test('every tool is in one toolkit, and nothing else is', () => {
  const grouped = TOOLKITS.flatMap(({ tools }) => tools);
  expect(grouped.toSorted()).toEqual(allTools.map(({ name }) => name).toSorted());
});
