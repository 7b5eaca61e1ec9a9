import { describe, expect, it } from 'vitest';
import { STATUSES } from '../../lib/execution/status.ts';
import { AppError } from '../../lib/kernel/errors.ts';
import {
  permissionTypeNamed,
  RUN_STATUSES,
  runStatusOf,
  statusNamed,
  TOOLKIT_TABLE,
  toolsNamed,
  WORKFLOW_TABLE,
  workflowNamed,
} from '../../lib/superagi/names.ts';
import { allTools } from '../../lib/tools/toolkit.ts';
import { BUILT_IN_NAMES } from '../../lib/workflow/built-ins.ts';

const available = allTools.map(({ name }) => name);
const refusal = (act: () => unknown): AppError => {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('It was not refused.');
};

describe('tools', () => {
  it.each([
    [[{ name: 'File Toolkit', tools: ['Write File', 'Read File'] }], ['write_file', 'read_file']],
    [[{ name: ' file toolkit ', tools: [' write file '] }], ['write_file']],
    [[{ name: 'File Toolkit', tools: [] }], ['append_file', 'delete_file', 'list_files', 'read_file', 'write_file']],
    [[{ name: 'Thinking Toolkit' }, { name: 'Thinking Toolkit', tools: ['ThinkingTool'] }], ['think']],
    [[{ name: 'File Toolkit', tools: ['write_file'] }], ['write_file']],
    [[{ name: 'web' }], ['http_request']],
    [[{ name: 'ask_user', tools: null }], ['ask_user']],
    [[], []],
  ])('%j are %j', (given, names) => {
    expect(toolsNamed(given, available).toSorted()).toEqual(names.toSorted());
  });

  it.each([
    [[{ name: 'Jira Toolkit' }], 'Jira Toolkit'],
    [[{ name: 'File Toolkit', tools: ['Shred File'] }], 'Shred File'],
    [[{ name: 'File Toolkit', tools: ['ThinkingTool'] }], 'ThinkingTool'],
    [[{ name: 'constructor' }], 'constructor'],
    [[{ name: 'File Toolkit', tools: ['toString'] }], 'toString'],
  ])('%j are refused with 404', (given, named) => {
    const refused = refusal(() => toolsNamed(given, available));
    expect(refused.status).toBe(404);
    expect(refused.message).toContain(named);
  });

  it('that this installation does not have are not offered', () => {
    expect(toolsNamed([{ name: 'File Toolkit' }], ['read_file', 'think'])).toEqual(['read_file']);
    expect(refusal(() => toolsNamed([{ name: 'File Toolkit' }], ['think'])).status).toBe(404);
  });

  it('of the table are all there', () => {
    const named = Object.values(TOOLKIT_TABLE).flatMap((tools) => Object.values(tools));
    expect(named.filter((tool) => !available.includes(tool))).toEqual([]);
  });
});

describe('workflows', () => {
  it('of the table are the built-in ones', () => {
    expect(Object.values(WORKFLOW_TABLE).toSorted()).toEqual([...BUILT_IN_NAMES].toSorted());
  });
  it('keep any other name', () => {
    expect([' supercoder ', 'Goal Based Workflow', 'My own'].map(workflowNamed)).toEqual([
      'supercoder',
      'goal',
      'My own',
    ]);
  });
});

describe('states', () => {
  it('are its own, each', () => {
    for (const status of STATUSES) expect(RUN_STATUSES).toContain(runStatusOf(status));
    expect([runStatusOf('WAITING_FOR_INPUT'), runStatusOf('BUDGET_EXCEEDED'), runStatusOf('FAILED')]).toEqual([
      'WAITING_FOR_PERMISSION',
      'ITERATION_LIMIT_EXCEEDED',
      'TERMINATED',
    ]);
    expect(runStatusOf('WAIT_STEP')).toBe('WAIT_STEP');
  });
  it('are understood in either case, and no other', () => {
    expect(statusNamed('running')).toBe('RUNNING');
    for (const wrong of ['RUN', 'FAILED', '', 'toString']) expect(refusal(() => statusNamed(wrong)).status).toBe(400);
  });
});

describe('permission types', () => {
  it.each([
    ['God Mode', 'GOD_MODE'],
    ['GOD_MODE', 'GOD_MODE'],
    ['RESTRICTED', 'RESTRICTED'],
    ['RESTRICTED (Will ask for permission before using any tool)', 'RESTRICTED'],
  ])('%s is %s', (given, expected) => {
    expect(permissionTypeNamed(given)).toBe(expected);
  });
  it.each(['', 'God', 'unrestricted', 'RESTRICTED-ish'])('%j is refused', (given) => {
    expect(refusal(() => permissionTypeNamed(given)).status).toBe(400);
  });
});
