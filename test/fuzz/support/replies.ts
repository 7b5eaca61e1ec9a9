/** Answers of chat models, from the usual to what no provider would send. */
import * as fc from 'fast-check';

const text = fc.oneof(
  { weight: 5, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', '\u0000', '\ud800', '```json\n{}\n```') },
  // Beyond what one row of the table holds.
  { weight: 1, arbitrary: fc.constantFrom('x', 'ü', '漢', '\n').map((one) => one.repeat(200_000)) },
);

const toolName = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      'finish',
      'think',
      'write_file',
      'append_file',
      'read_file',
      'list_files',
      'delete_file',
      'http_request',
      'ask_user',
    ),
  },
  { weight: 2, arbitrary: fc.string({ maxLength: 80 }) },
  { weight: 1, arbitrary: fc.constantFrom('', '__proto__', 'constructor', 'finish ', 'x'.repeat(100_000)) },
);

const fitting = fc.oneof(
  fc.record({ result: text }),
  fc.record({ thought: text }),
  fc.record({ path: fc.constantFrom('a.txt', 'b/c.md', '../x', '/etc/passwd', ''), content: text }),
  fc.record({ path: fc.constantFrom('a.txt', '~spilled/1-101', '~spilled/0-0', 'none') }),
  fc.record({ question: text }),
  fc.record({ method: fc.constantFrom('GET', 'POST', 'BREW'), url: fc.constantFrom('https://example.org/', 'x', '') }),
  fc.constant({}),
);

const args = fc.oneof(
  { weight: 6, arbitrary: fitting.map((value): unknown => JSON.stringify(value)) },
  { weight: 1, arbitrary: fitting as fc.Arbitrary<unknown> }, // Ollama's way: the object itself
  { weight: 1, arbitrary: fc.json() as fc.Arbitrary<unknown> },
  { weight: 1, arbitrary: text as fc.Arbitrary<unknown> },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, undefined, '{"a":', '[]', '"x"', '['.repeat(50_000), 7) },
);

const callId = fc.oneof(
  { weight: 4, arbitrary: fc.uuid() as fc.Arbitrary<unknown> },
  { weight: 3, arbitrary: fc.constantFrom<unknown>('same', 'same', '', null, undefined, 5) },
  { weight: 1, arbitrary: fc.constant<unknown>('i'.repeat(50_000)) },
);

const call = fc.record(
  {
    id: callId,
    type: fc.constantFrom('function', 'function', 'custom', null),
    function: fc.record({ name: toolName, arguments: args }),
  },
  { requiredKeys: ['function'] },
);

const calls = fc.oneof(
  { weight: 8, arbitrary: fc.array(call as fc.Arbitrary<unknown>, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(fc.oneof(call as fc.Arbitrary<unknown>, fc.jsonValue()), { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(64, 65, 200, 5_000), fc.constantFrom('think', 'nothing', 'write_file'))
      .map(([count, name]) =>
        Array.from({ length: count }, (_, n) => ({
          id: `c${n}`,
          function: { name, arguments: JSON.stringify({ thought: `t${n}`, path: 'f', content: 'c' }) },
        })),
      ),
  },
);

const count = fc.oneof(
  { weight: 5, arbitrary: fc.nat(10_000) as fc.Arbitrary<number> },
  { weight: 1, arbitrary: fc.constantFrom(0.5, 1e300, 2 ** 53, -1, 1e15) },
);

const usage = fc.oneof(
  fc.record({ prompt_tokens: count, completion_tokens: count }),
  fc.record({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: fc.record({ cached_tokens: count }),
  }),
  fc.constantFrom<unknown>(undefined, null, {}, 'many', { prompt_tokens: '3' }),
);

const finish = fc.oneof(
  fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'function_call', null, undefined, ''),
  fc.constant('f'.repeat(500_000)),
);

/** A completion, mostly. */
export const replyBody: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .record({
        content: fc.oneof(
          text as fc.Arbitrary<unknown>,
          fc.constantFrom<unknown>(null, undefined, [], [{ text: 'part' }]),
        ),
        refusal: fc.option(text, { freq: 6 }),
        tool_calls: fc.option(calls, { freq: 6 }),
        usage,
        finish,
      })
      .map(({ usage: tokens, finish: finish_reason, ...message }) => ({
        choices: [{ index: 0, finish_reason, message: { role: 'assistant', ...message } }],
        usage: tokens,
      })),
  },
  { weight: 1, arbitrary: fc.jsonValue() as fc.Arbitrary<unknown> },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>({ choices: [] }, { choices: [{}] }, {}, [], null, 'x', { error: {} }),
  },
);
