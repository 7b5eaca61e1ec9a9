import { expect, test } from 'vitest';
import { STATUSES } from '../../lib/execution/status.ts';
import { ROUTES } from '../../lib/http/routes/all.ts';
import { runStatusOf, TOOLKIT_TABLE, WORKFLOW_TABLE } from '../../lib/superagi/names.ts';
import { read, tableBelow } from './markdown.ts';

const page = read('docs/superagi.md');
const rowsOf = (heading: string) => tableBelow(page, heading).map((row) => row.map((cell) => cell.replaceAll('`', '')));

test('the tables of names are those of the code', () => {
  const toolkits = Object.entries(TOOLKIT_TABLE).flatMap(([toolkit, tools]) =>
    Object.entries(tools).map(([tool, ours]) => [toolkit, tool, ours]),
  );
  expect(rowsOf('## Toolkits')).toEqual(toolkits);
  expect(rowsOf('## Workflows')).toEqual(Object.entries(WORKFLOW_TABLE));
  expect(rowsOf('## States of a run').toSorted()).toEqual(STATUSES.map((from) => [from, runStatusOf(from)]).toSorted());
});

test('every call is there with its scope', () => {
  const told = rowsOf('## Calls').flatMap(([call = '', scope]) => {
    const [, method, path, more] = /^(\w+) (\S+?)(?:,|$| )(?: …(\S+))?/.exec(call) ?? [];
    const all = [path, ...(more === undefined ? [] : [path?.replace(/\/\w+$/, more)])];
    return all.map((one) => `${method} ${one} ${scope}`);
  });
  const routes = ROUTES.filter(({ tag, path }) => tag === 'SuperAGI' && path.startsWith('/api/'));
  const there = routes.map(({ method, path, scope }) => `${method} ${path.replace('{agentNumber}', '{id}')} ${scope}`);
  expect(told.toSorted()).toEqual(there.toSorted());
  const short = ROUTES.filter(({ tag, path }) => tag === 'SuperAGI' && !path.startsWith('/api/'));
  expect(short).toHaveLength(routes.length - 1);
});
