import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Api, Execution } from '../../scripts/demo/api.ts';
import { faultsOfModel, faultsOfRehearsal } from '../../scripts/demo/check.ts';
import { rowLine } from '../../scripts/demo/follow.ts';
import { AGENT } from '../../scripts/demo/job.ts';
import { killInMidStep, killProcess, stepProcesses } from '../../scripts/demo/kill.ts';
import { bar, makeScreen, oneLine } from '../../scripts/demo/terminal.ts';

const REPORT = [
  '# Report',
  '- east: 225',
  '- north: 405',
  '- south: 280',
  '- west: 300',
  'Grand total: 1210',
  'Highest: north (405)',
  '',
].join('\n');

const right: ReadonlyMap<string, string> = new Map([
  ['figures/north.csv', 'label,value\nJanuary,120\nFebruary,135\nMarch,150\n'],
  ['figures/south.csv', 'label,value\nJanuary,90\nFebruary,80\nMarch,110\n'],
  ['figures/east.csv', 'label,value\nJanuary,200\nFebruary,10\nMarch,15\n'],
  ['figures/west.csv', 'label,value\nJanuary,75\nFebruary,95\nMarch,130\n'],
  ['totals.csv', 'name,total\neast,225\nnorth,405\nsouth,280\nwest,300\n'],
  ['report.md', REPORT],
]);
const without = (path: string) => new Map([...right].filter(([each]) => each !== path));
const having = (path: string, text: string) => new Map([...right, [path, text]]);

describe('the check of the files', () => {
  test('passes what is right', () => {
    expect(faultsOfRehearsal(right)).toEqual([]);
  });

  test.each([...right.keys()])('misses %s', (path) => {
    expect(faultsOfRehearsal(without(path))).toEqual([`${path} is missing.`]);
  });

  test.each([...right.keys()].filter((path) => path.endsWith('.csv')))('sees one changed figure in %s', (path) => {
    const text = (right.get(path) ?? '').replace(/\d(?=\n$)/, (digit) => String((Number(digit) + 1) % 10));
    const [fault, ...others] = faultsOfRehearsal(having(path, text));
    expect(fault).toContain(`${path} holds ${JSON.stringify(text)} and not`);
    expect(others).toEqual([]);
  });

  test.each([
    ['- west: 300', 'the total of west, 300'],
    ['Grand total: 1210', 'the grand total, 1210'],
    ['Highest: north', 'the highest region, north'],
  ])('misses "%s" in the report', (line, what) => {
    const wrong = REPORT.replace(
      line,
      line.replace(/\d+|north/, (part) => (part === 'north' ? 'south' : `1${part}`)),
    );
    expect(faultsOfRehearsal(having('report.md', wrong))).toEqual([`report.md does not say ${what}.`]);
  });

  test("a real model's work may be worded freely, but the numbers must be there", () => {
    const files = new Map([1, 2, 3, 4].map((each) => [`region-${each}.txt`, 'whatever']));
    const result = 'North 405, South 280, East 225 and West 300: **1,210** in all.';
    expect(faultsOfModel(files, result)).toEqual([]);
    expect(faultsOfModel(files, result.replace('280', '2800'))).toEqual([
      '280 stands in no file and not in the result.',
    ]);
    expect(faultsOfModel(new Map(), result)).toHaveLength(1);
  });

  test('the figures of the job are the ones that are checked', () => {
    expect(AGENT.config.instructions).toEqual([
      'north: January 120, February 135, March 150',
      'south: January 90, February 80, March 110',
      'east: January 200, February 10, March 15',
      'west: January 75, February 95, March 130',
    ]);
  });
});

describe('the kill', () => {
  let home: string;
  const children: ReturnType<typeof spawn>[] = [];
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'demo-kill-'));
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });

  const sleeper = async (): Promise<{ readonly child: ReturnType<typeof spawn>; readonly pid: number }> => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    children.push(child);
    await once(child, 'spawn');
    return { child, pid: child.pid ?? 0 };
  };
  const keepPids = (pids: { readonly [name: string]: readonly number[] }): void =>
    writeFileSync(join(home, 'processes.json'), JSON.stringify(pids));

  test('ends a process that exists, and says when there is none', async () => {
    const { child, pid } = await sleeper();
    const gone = once(child, 'exit');
    expect(killProcess(pid)).toBe(true);
    expect(await gone).toEqual([null, 'SIGKILL']);
    expect(killProcess(pid)).toBe(false);
  });

  test.runIf(process.platform === 'linux')('leaves out a frozen process: it holds nothing', async () => {
    const [frozen, working, other] = await Promise.all([sleeper(), sleeper(), sleeper()]);
    process.kill(frozen.pid, 'SIGSTOP');
    keepPids({ 'baton-dev-api': [other.pid], 'baton-dev-step': [frozen.pid, working.pid] });
    await vi.waitFor(() => expect(stepProcesses(home)).toEqual([working.pid]));
  });

  test('without a step process there is nothing to kill', () => {
    keepPids({ 'baton-dev-api': [1], 'baton-dev-step': [] });
    expect(stepProcesses(home)).toEqual([]);
  });

  /** A run that is worked on at its `seq`; the function says what it shows at each look. */
  const api = (look: (n: number) => Partial<Execution>): Api => {
    let looks = 0;
    const refuse = () => Promise.reject(new Error('not part of this test'));
    return {
      createAgent: refuse,
      startExecution: refuse,
      feed: refuse,
      files: refuse,
      execution: async () => ({
        id: 'exe_1',
        status: 'RUNNING',
        seq: 5,
        calls: 4,
        tokens: { input: 0, output: 0, total: 0 },
        costUsd: 0,
        now: { state: 'working', sentence: '' },
        ...look(looks++),
      }),
    };
  };
  const { signal } = new AbortController();

  test('waits for the step and for a holder', async () => {
    const { pid } = await sleeper();
    keepPids({ 'baton-dev-step': [pid] });
    const seen: number[] = [];
    const patient = api((n) => {
      seen.push(n);
      if (n === 0) return { seq: 4 };
      return n === 1 ? { now: { state: 'queued', sentence: '' } } : {};
    });
    expect(await killInMidStep({ api: patient, home, signal }, 'exe_1', 5)).toMatchObject({ pid, seq: 5 });
    expect(seen).toEqual([0, 1, 2, 3]);
  });

  test('a step that was committed before the kill does not count: the next one is tried', async () => {
    const [first, second] = await Promise.all([sleeper(), sleeper()]);
    keepPids({ 'baton-dev-step': [first.pid] });
    const moved = api((n) => {
      if (n === 1) keepPids({ 'baton-dev-step': [second.pid] });
      return { seq: n === 0 ? 5 : 6 };
    });
    expect(await killInMidStep({ api: moved, home, signal }, 'exe_1', 5)).toMatchObject({ pid: second.pid, seq: 6 });
  });

  test('a run that has ended cannot be hit', async () => {
    keepPids({ 'baton-dev-step': [] });
    const ended = api(() => ({ status: 'COMPLETED' }));
    expect(await killInMidStep({ api: ended, home, signal }, 'exe_1', 5)).toBeUndefined();
  });
});

describe('what the terminal shows', () => {
  test('the bar', () => {
    expect(bar(0)).toBe(`[${'.'.repeat(24)}]`);
    expect(bar(0.5)).toBe(`[${'#'.repeat(12)}${'.'.repeat(12)}]`);
    expect(bar(7)).toBe(`[${'#'.repeat(24)}]`);
  });

  test('without a terminal it is a line, once for each change', () => {
    const written: string[] = [];
    const screen = makeScreen({ write: (text) => written.push(text) });
    screen.progress(0, 'a');
    screen.progress(0, 'a');
    screen.line('row');
    screen.clear();
    expect(written).toEqual([`  ${bar(0)} a\n`, 'row\n']);
  });

  test('on a terminal it stays below the lines, no wider than the terminal', () => {
    const written: string[] = [];
    const screen = makeScreen({ write: (text) => written.push(text), isTTY: true, columns: 30 });
    screen.progress(1, 'many many many words');
    screen.line('row');
    screen.clear();
    screen.line('end');
    const esc = String.fromCharCode(27);
    const clear = `\r${esc}[2K`;
    const shown = written[0]?.slice(clear.length) ?? '';
    expect(shown.length).toBeLessThan(30);
    expect(written).toEqual([`${clear}${shown}`, `${clear}row\n${shown}`, clear, `${clear}end\n`]);
  });

  test('rows of the feed', () => {
    const call = { id: 'c', name: 'write_file', arguments: '{"path":"a.csv","content":"x\\ny"}' };
    expect(rowLine({ seq: 3, role: 'assistant', content: 'Now.', toolCalls: [call] })).toBe(
      '  step  3  assistant: Now. | write_file(a.csv, x y)',
    );
    const broken = { ...call, arguments: '{"path' };
    expect(rowLine({ seq: 3, role: 'assistant', content: '', toolCalls: [broken] })).toBe(
      '  step  3  assistant: write_file({"path)',
    );
    expect(rowLine({ seq: 3, role: 'tool', content: 'Wrote it.', toolCallId: 'c' })).toBe(
      '  step  3      -> Wrote it.',
    );
    expect(oneLine('a\n  b', 10)).toBe('a b');
    expect(oneLine('abcdef', 4)).toBe('abc…');
  });
});
