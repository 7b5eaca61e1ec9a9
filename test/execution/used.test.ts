import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { A, readExecution } from '../../lib/execution/execution.ts';
import { stallMark } from '../../lib/execution/mark.ts';
import { newExecutionItem } from '../../lib/execution/new-execution.ts';
import {
  NOTHING_USED,
  OTHER,
  type Used,
  usageText,
  usageTextOf,
  withCall,
  withTool,
} from '../../lib/execution/used.ts';
import type { Item } from '../../lib/kernel/table.ts';
import { itemSize } from '../../local/dynamodb/values/item-size.ts';

/** As DynamoDB holds it; the row has texts, numbers and booleans alone. */
const attributesOf = (item: Item) =>
  Object.fromEntries(
    Object.entries(item).map(([attribute, value]) => [
      attribute,
      typeof value === 'number'
        ? { N: String(value) }
        : typeof value === 'boolean'
          ? { BOOL: value }
          : { S: String(value) },
    ]),
  );

const CALL = { calls: 1, input: 24_000, output: 1_000, cached: 12_000, cost: 40_000 };
const name = fc.string({ maxLength: 90, unit: fc.constantFrom('a', 'Z', '-', '/', '"', '\\', 'é', '日', '__proto__') });

describe('what a run has used', () => {
  it('survives as text, and no call of any model or tool is lost', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ model: name, tool: name, failed: fc.boolean() }), { maxLength: 40 }),
        (calls) => {
          let used: Used = NOTHING_USED;
          for (const { model, tool, failed } of calls) {
            used = withTool(withCall(used, model, CALL), tool, { calls: 1, errors: failed ? 1 : 0 });
          }
          const read = usageText.parse(usageTextOf(used));
          expect(read).toEqual(used);
          const total = (rows: Iterable<{ readonly calls: number }>): number =>
            [...rows].reduce((sum, row) => sum + row.calls, 0);
          expect(total(read.models.values())).toBe(calls.length);
          expect(total(read.tools.values())).toBe(calls.length);
        },
      ),
    );
  });

  it('puts the model of the last call first', () => {
    const used = withCall(withCall(withCall(NOTHING_USED, 'a', CALL), 'b', CALL), 'a', CALL);
    expect([...used.models.keys()]).toEqual(['a', 'b']);
    expect(used.models.get('a')?.calls).toBe(2);
  });

  it.each(['a,b,c,d,e,f,g', 'a|b|c', 'a,-1', ',1', 'a,1;', 'a|b,1,1,1', '%,1', 'a,1.5'])(
    '%j is no such text',
    (text) => {
      expect(usageText.safeParse(text).success).toBe(false);
    },
  );
});

describe('the row of a running execution', () => {
  /** A long run of an agent with many tools, every counter large, in the middle of its step. */
  const longRun = (models: number, tools: number): Item => {
    let used: Used = NOTHING_USED;
    for (let call = 0; call < 20_000; call++) {
      used = withCall(used, `gpt-5-mini-2026-0${call % models}`, CALL);
      used = withTool(used, `toolkit_${call % tools}_tool`, { calls: 1, errors: call % 2 });
    }
    const executionId = 'exe_01kjmma2g0enenrqb08er56e2r';
    const orgId = 'org_01kjmma2g0enenrqb08er56e2r';
    const limits = {
      maxIterations: 25_000,
      maxSteps: 1_000,
      maxTokens: 900_000_000,
      maxCost: 900_000_000,
      maxSeconds: 86_400,
    };
    const ids = {
      executionId,
      orgId,
      agentId: 'agt_01kjmma2g0enenrqb08er56e2r',
      projectId: 'prj_01kjmma2g0enenrqb08er56e2r',
    };
    const rest = {
      name: 'A run with a name of some length',
      stepId: 'goal/think',
      worst: 123_456,
      priceUnknown: false,
      windowTokens: 23_456,
    };
    const item = newExecutionItem(
      { ...ids, ...rest, limits },
      1_800_000_000_000,
      stallMark(executionId, 1_800_000_000_000),
    );
    const numbers = [
      A.seq,
      A.calls,
      A.tokensIn,
      A.tokensOut,
      A.cost,
      A.reserved,
      A.runningMs,
      A.windowFrom,
      A.summarySeq,
    ];
    return {
      ...item,
      ...Object.fromEntries(numbers.map((attribute) => [attribute, 123_456_789])),
      [A.usage]: usageTextOf(used),
      [A.leaseOwner]: 'AbCdEfGhIjKl',
      [A.leaseUntil]: 1_800_000_030_000,
      [A.leaseMessage]: '5fea7756-0ea4-451a-a703-a558b933e274',
      [A.messageId]: '5fea7756-0ea4-451a-a703-a558b933e274',
      [A.attempts]: 1,
      [A.claims]: 1,
      [A.consumed]: 12,
      [A.waitedMs]: 0,
      [A.repeatHash]: 'AbCdEfGhIjKlMnOp',
      [A.repeatCount]: 1,
      [A.errors]: 3,
      [A.budgetDay]: '2027-01-15',
      [A.budgetUpTo]: 123_456_789,
    };
  };

  it.each([
    [1, 3],
    [2, 8],
    [5, 60],
  ])('with %i models and %i tools it stays below 1 KB', (models, tools) => {
    const item = longRun(models, tools);
    const used = readExecution(item).usage;
    expect([...(used?.models.values() ?? [])].reduce((sum, { calls }) => sum + calls, 0)).toBe(20_000);
    if (tools === 60) expect(used?.tools.has(OTHER)).toBe(true);
    expect(itemSize(attributesOf(item))).toBeLessThan(1_024);
  });
});
