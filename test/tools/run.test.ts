import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { httpRequest } from '../../lib/tools/http-request.ts';
import { listFilesTool } from '../../lib/tools/list-files.ts';
import { readFile } from '../../lib/tools/read-file.ts';
import { parseArguments } from '../../lib/tools/run.ts';
import { runAgent } from '../../lib/tools/run-agent.ts';
import { toolSpec } from '../../lib/tools/spec.ts';
import { think } from '../../lib/tools/think.ts';
import type { Tool } from '../../lib/tools/tool.ts';
import { allTools, findTool, findTools } from '../../lib/tools/toolkit.ts';
import { writeFile } from '../../lib/tools/write-file.ts';

const problem = (tool: Tool, raw: string): string => {
  const parsed = parseArguments(tool, raw);
  if (parsed.ok) throw new Error('It fits.');
  return parsed.problem;
};

describe('parseArguments', () => {
  it('takes what fits, in a fence too, and nothing at all where nothing is needed', () => {
    const args = { path: 'a', content: '```\n{"x":1}\n```' };
    expect(parseArguments(writeFile, JSON.stringify(args))).toEqual({ ok: true, args });
    for (const fence of ['```json\n', '```\n', ' \n```JSON  \n']) {
      expect(parseArguments(writeFile, `${fence}${JSON.stringify(args)}\n\`\`\` `)).toEqual({ ok: true, args });
    }
    for (const raw of ['', ' ', 'null', '{}'])
      expect(parseArguments(listFilesTool, raw)).toEqual({ ok: true, args: {} });
  });

  const mistakes: readonly [Tool, string, string[]][] = [
    [writeFile, '', ['"path" is missing, expected a string', '"content" is missing']],
    [writeFile, '{"path": 5, "content": null}', ['"path" is the number 5, expected a string', '"content" is null']],
    [writeFile, '{"path": ["a"], "content": {"b": 1}}', ['a list of 1', 'an object with b']],
    [
      writeFile,
      '{"path": "a", "contents": "x"}',
      ['"contents" (did you mean "content"?) is unknown', '"content" is missing'],
    ],
    [writeFile, '[]', ['the arguments are a list of 0, expected an object']],
    [writeFile, '"text"', ['the text "text", expected an object']],
    [
      readFile,
      '{"path": "a", "offset": -1, "limit": 1.5}',
      ['"offset" is the number -1, expected at least 0', 'a whole number'],
    ],
    [runAgent, '{"goal": "g", "maxCostUsd": -1}', ['"maxCostUsd" is the number -1, expected more than 0']],
    [readFile, '{"path": ""}', ['expected at least 1 character']],
    [httpRequest, '{"method": "get", "url": "x"}', ['expected one of GET, HEAD, POST, PUT, PATCH, DELETE']],
    [listFilesTool, '{"path": "a"}', ['"path" is unknown, this tool takes no arguments']],
    [think, `{"thought": "${'x'.repeat(20_001)}"}`, ['a text of 20001 characters, expected at most 20000 characters']],
    [writeFile, '{"path": "a" "content": "b"}', ["Expected ',' or '}'", 'at position 13', '"content']],
    [writeFile, '{"path": "a", "content": "line\nbreak"}', ['control character', 'at position 30']],
    [writeFile, '{"path": "a", "content": "cut off in the mid', ['end too early, after 44 characters', 'in the mid']],
    [writeFile, '{"path": undefined}', ["Unexpected token 'u'", 'undefined']],
    [writeFile, 'I will write the file now.', ['not valid JSON', 'I will wri']],
    [writeFile, "{'path': 'a'}", ['not valid JSON']],
  ];
  it.each(mistakes.map(([tool, raw, parts]) => ({ name: tool.name, shown: raw.slice(0, 60), tool, raw, parts })))(
    'tells the model of $name what is wrong with $shown',
    ({ tool, raw, parts }) => {
      const said = problem(tool, raw);
      expect(said).toContain(tool.name);
      for (const part of parts) expect(said).toContain(part);
      expect(said.length).toBeLessThan(600);
    },
  );

  it('never throws, whatever a model writes, and never lets through what does not fit', () => {
    const raw = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((text) => text.slice(0, -1)),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(raw, fc.constantFrom(...allTools), (text, tool) => {
        const parsed = parseArguments(tool, text);
        return parsed.ok ? tool.schema.safeParse(parsed.args).success : parsed.problem.includes(tool.name);
      }),
      { numRuns: 500 },
    );
  });

  it('gives back exactly what was sent', () => {
    const args = fc.record({ path: fc.string({ minLength: 1, maxLength: 512 }), content: fc.string() });
    fc.assert(
      fc.property(args, (sent) => {
        expect(parseArguments(writeFile, JSON.stringify(sent))).toEqual({ ok: true, args: sent });
      }),
    );
  });

  it('keeps a poisoned key a plain mistake', () => {
    expect(problem(listFilesTool, '{"__proto__": {"x": 1}}')).toContain('__proto__');
    expect(problem(writeFile, '{"constructor": 1, "path": "a", "content": "b"}')).toContain('"constructor" is unknown');
  });
});

describe('the toolkit', () => {
  it('offers the tools of the contract, each with a name, a description and a schema for an object', () => {
    expect(allTools.map(({ name }) => name).sort()).toEqual([
      'append_file', 'ask_user', 'delete_file', 'finish', 'http_request', 'list_files', 'read_file', 'run_agent', 'think',
      'wait', 'write_file',
    ]); // biome-ignore format: names
    for (const tool of allTools) {
      const spec = toolSpec(tool);
      expect(spec.name).toMatch(/^[a-z_]{1,64}$/);
      expect(spec.description.length).toBeGreaterThan(20);
      expect(spec.parameters).toMatchObject({ type: 'object', additionalProperties: false });
      expect(JSON.stringify(spec)).not.toMatch(/\$schema|propertyNames/);
    }
    expect(toolSpec(readFile).parameters).toMatchObject({
      required: ['path'],
      properties: { offset: { type: 'integer', minimum: 0 }, limit: { type: 'integer', maximum: 8000 } },
    });
  });

  it('finds tools by their exact names only, and suggests for a near miss', () => {
    expect(findTool('write_file', allTools)).toMatchObject({ ok: true, tool: { name: 'write_file' } });
    for (const [name, meant] of [
      ['WriteFile', 'write_file'],
      ['write file', 'write_file'],
      ['wirte_file', 'write_file'],
      ['thnik', 'think'],
      ['finsh', 'finish'],
    ] as const) {
      const found = findTool(name, allTools);
      expect(found).toMatchObject({ ok: false, problem: expect.stringContaining(`Did you mean ${meant}?`) });
    }
    const nothing = findTool('send_rocket', allTools);
    expect(nothing).toMatchObject({ ok: false, problem: expect.stringContaining('Available: finish, think') });
    expect(nothing).not.toMatchObject({ problem: expect.stringContaining('Did you mean') });
    expect(findTool('write_file', [think])).toMatchObject({ ok: false });
  });

  it('selects what a configuration names, with finish always, and reports the rest', () => {
    const names = (selected: string[] | undefined) => findTools(selected).tools.map(({ name }) => name);
    expect(names(undefined)).toEqual(allTools.map(({ name }) => name).filter((name) => name !== 'run_agent'));
    expect(names(['run_agent'])).toEqual(['finish', 'run_agent']);
    expect(names([])).toEqual(['finish']);
    expect(names(['read_file', 'think', 'read_file'])).toEqual(['finish', 'think', 'read_file']);
    expect(findTools(['think'])).not.toHaveProperty('problem');
    const selection = findTools(['think', 'Read File', 'shell']);
    expect(selection.unknown).toEqual(['Read File', 'shell']);
    expect(selection.problem).toContain('Did you mean read_file?');
    expect(selection.problem).toContain('"shell"');
  });

  it('declares what the engine itself handles as harmless', () => {
    for (const name of ['finish', 'ask_user', 'think']) {
      const found = findTool(name, allTools);
      if (!found.ok) throw new Error(found.problem);
      expect(found.tool.effect({}, {})).toBe('none');
    }
  });
});
