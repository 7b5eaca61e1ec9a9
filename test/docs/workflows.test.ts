import { describe, expect, it } from 'vitest';
import { allTools } from '../../lib/tools/toolkit.ts';
import { BUILT_IN_NAMES, builtIn } from '../../lib/workflow/built-ins.ts';
import { checkExpression } from '../../lib/workflow/expression.ts';
import { PLACEHOLDERS } from '../../lib/workflow/render.ts';
import { checkDefinition } from '../../lib/workflow/validate.ts';
import { blocksOf, read, tableBelow } from './markdown.ts';

const document = read('docs/workflows.md');
const examples = blocksOf(document).filter(({ info }) => info[0] === 'json');

describe('docs/workflows.md', () => {
  it.each(examples.map(({ text }) => [JSON.parse(text).name as string, text]))(
    '%s can be saved as it stands',
    (_, text) => {
      const tools = allTools.map(({ name }) => name);
      expect(checkDefinition(JSON.parse(text), tools).name).toBe(JSON.parse(text).name);
    },
  );

  it('uses every kind of step in its examples, under names of their own', () => {
    const definitions = examples.map(({ text }) => checkDefinition(JSON.parse(text)));
    const kinds = new Set(definitions.flatMap(({ steps }) => Object.values(steps).map(({ kind }) => kind)));
    expect([...kinds].toSorted()).toEqual(
      tableBelow(document, '### Kinds of steps')
        .map(([kind = '']) => kind.replaceAll('`', ''))
        .toSorted(),
    );
    expect(new Set(definitions.map(({ name }) => name)).size).toBe(definitions.length);
  });

  it('names the built-in workflows, the placeholders, and the steps of its picture', () => {
    const first = (heading: string): string[] =>
      tableBelow(document, heading).map(([cell = '']) => cell.replaceAll('`', ''));
    expect(first('## Built-in workflows')).toEqual([...BUILT_IN_NAMES]);
    expect(first('### Placeholders').join(' ')).toBe(PLACEHOLDERS.map((name) => `{${name}}`).join(' '));
    const picture = blocksOf(document).find(({ info }) => info[0] === 'text')?.text ?? '';
    for (const id of Object.keys(builtIn('sales-engagement')?.definition.steps ?? {})) expect(picture).toContain(id);
  });

  it('names the functions of expressions that there are', () => {
    const [, listed = ''] = /the functions `([^`]+)`/.exec(document) ?? [];
    const refused = checkExpression('last.matches("x")');
    expect(refused.ok ? '' : refused.problem).toContain(listed.split(/\s+/).join(', '));
  });
});
