/** Runs of workflows that meet every kind of step; the model goes by the words of the request alone, as a real one does. */
import type { ModelRequest } from '../../lib/model/model.ts';
import { builtIn } from '../../lib/workflow/built-ins.ts';
import type { WorkflowDefinition } from '../../lib/workflow/definition.ts';
import { checkDefinition } from '../../lib/workflow/validate.ts';
import type { Scenario } from './scenario.ts';
import type { SimAnswer } from './sim-model.ts';

type Base = Omit<Scenario, 'seed'>;

const TOOLS = ['look', 'post', 'pay'];
const json = (value: object): SimAnswer => ({ text: JSON.stringify(value) });
const system = ({ messages }: ModelRequest): string => messages[0]?.content ?? '';
const lastWords = ({ messages }: ModelRequest): string => messages.at(-1)?.content ?? '';

/** The numbered lines below a heading. */
const listed = (text: string, heading: string): readonly string[] => {
  const [, below = ''] = text.split(`${heading}:\n`);
  const [block = ''] = below.split('\n\n');
  return block.split('\n').flatMap((line) => /^\d+\. (.*)$/.exec(line)?.[1] ?? []);
};

const dynamicTask = (): WorkflowDefinition => {
  const found = builtIn('dynamic-task');
  if (found === undefined) throw new Error('The workflow is missing.');
  return found.definition;
};

/** Two tasks, one more after the first, put in front; the plan is only usable at the second asking. */
const worksTasks = (request: ModelRequest): SimAnswer => {
  const words = system(request);
  if (words.startsWith('You plan')) {
    const again = lastWords(request).includes('held no JSON');
    return again ? json({ tasks: ['first', 'second'] }) : { text: 'Yes.' };
  }
  if (words.includes('Give the waiting tasks')) {
    return json({ tasks: [...listed(words, 'Tasks that are waiting')].sort().reverse() });
  }
  if (words.includes('give that one new task')) {
    return json({ tasks: listed(words, 'Tasks done so far').length === 1 ? ['zeroth'] : [] });
  }
  return { calls: [[words.includes('now:\nsecond') ? 'look' : 'post', { what: 'x'.repeat(500) }]] };
};

const define = (definition: object): WorkflowDefinition => checkDefinition(definition, TOOLS);

/** A tool, a choice that is only readable at the second asking, a wait, an expression over what the tool gave. */
const CHECKED = define({
  name: 'checked',
  start: 'pay',
  steps: {
    pay: {
      kind: 'TOOL',
      tools: ['pay'],
      instruction: 'Pay.',
      choose: 'Was it paid?',
      next: { YES: 'pause', NO: 'lost' },
    },
    pause: { kind: 'WAIT', seconds: 30, next: { default: 'look' } },
    look: { kind: 'TOOL', tools: ['look'], instruction: 'Look.', history: false, next: { default: 'judge' } },
    judge: { kind: 'CONDITION', expression: 'last.contains("look done")', next: { YES: 'ask', NO: 'lost' } },
    ask: { kind: 'CONDITION', question: 'Is all well?', next: { well: 'done', badly: 'lost', default: 'lost' } },
    lost: { kind: 'END', result: 'lost' },
    done: { kind: 'END', result: 'paid and seen' },
  },
});

const chooses = (request: ModelRequest): SimAnswer => {
  const words = system(request);
  if (words.includes('Was it paid?')) {
    return lastWords(request).includes('chose none') ? json({ label: 'YES' }) : { text: 'It seems so' };
  }
  if (words.includes('Is all well?')) return { text: 'well.' };
  return { calls: [[words.includes('Pay.') ? 'pay' : 'look', {}]] };
};

/** A queue whose tasks each need leave; the first is refused once. */
const QUEUED = define({
  name: 'queued',
  start: 'find',
  steps: {
    find: { kind: 'TOOL', tools: ['look'], instruction: 'Look.', next: { default: 'each' } },
    each: { kind: 'TASK_QUEUE', instruction: 'What is to be paid?', next: { default: 'ask', COMPLETE: 'done' } },
    ask: { kind: 'ASK_PERMISSION', question: 'Pay {task}?', next: { YES: 'pay', NO: 'skip' } },
    skip: { kind: 'TOOL', tools: ['post'], instruction: 'Say that {task} is not paid.', next: { default: 'each' } },
    pay: { kind: 'TOOL', tools: ['look', 'post'], instruction: 'Pay {task}.', next: { default: 'each' } },
    done: { kind: 'END', result: 'Done:\n{completed}' },
  },
});

const pays = (request: ModelRequest): SimAnswer => {
  const words = system(request);
  if (words.includes('What is to be paid?')) return json({ tasks: ['rent', 'power'] });
  if (words.includes('Say that')) return { calls: [['post', {}]] };
  return { calls: [['look', {}]] };
};

/** A second list is put before the first, which nobody has begun. */
const PLANNED = define({
  name: 'planned',
  start: 'plan',
  steps: {
    plan: { kind: 'ITERATION', iteration: 'plan', next: { default: 'work', COMPLETE: 'done' } },
    work: { kind: 'ITERATION', iteration: 'work', next: { default: 'work', COMPLETE: 'done' } },
    done: { kind: 'END', result: 'Done:\n{completed}' },
  },
  iterations: {
    plan: {
      taskQueue: true,
      start: 'late',
      steps: {
        late: { prompt: 'Late.', output: 'tasks', history: false, next: 'early' },
        early: { prompt: 'Early.', output: 'tasks', history: false },
      },
    },
    work: { taskQueue: true, start: 'do', steps: { do: { prompt: 'Do {task}.', output: 'tools', history: false } } },
  },
});

const plans = (request: ModelRequest): SimAnswer => {
  const words = system(request);
  if (words.startsWith('Do ')) return { calls: [['post', {}]] };
  return json({ tasks: words.startsWith('Late') ? ['c', 'd'] : ['a', 'b'] });
};

/** Words where calls and forms are due, in every place: nothing strands. */
const CHATTER = define({
  name: 'chatter',
  start: 'plan',
  steps: {
    plan: { kind: 'ITERATION', iteration: 'plan', next: { default: 'work', COMPLETE: 'call' } },
    work: { kind: 'ITERATION', iteration: 'work', next: { default: 'work', COMPLETE: 'call' } },
    call: { kind: 'TOOL', tools: ['look'], instruction: 'Look.', next: { default: 'ask' } },
    ask: { kind: 'CONDITION', question: 'Which?', next: { one: 'lost', two: 'lost', default: 'done' } },
    lost: { kind: 'END', result: 'lost' },
    done: { kind: 'END', result: 'Done:\n{completed}' },
  },
  iterations: {
    plan: { taskQueue: true, start: 'plan', steps: { plan: { prompt: 'Plan.', output: 'tasks', history: false } } },
    work: { taskQueue: true, start: 'do', steps: { do: { prompt: 'Do {task}.', output: 'tools', history: false } } },
  },
});

export const WORKFLOW_BASES: { readonly [name: string]: Base } = {
  'tasks that change while they are worked': {
    script: [],
    workflow: dynamicTask(),
    answers: worksTasks,
    expects: {
      result: 'Tasks done:\n1. first: post done\n2. zeroth: post done\n3. second: look done\n\nLast result:\nlook done',
    },
  },
  'a tool, a choice, a wait, a condition': {
    script: [],
    workflow: CHECKED,
    answers: chooses,
    expects: { result: 'paid and seen' },
  },
  'a queue whose tasks need leave': {
    script: [],
    workflow: QUEUED,
    answers: pays,
    approves: (nth) => nth > 0,
    expects: { result: 'Done:\n1. rent: post done\n2. power: look done' },
  },
  'a list of tasks that grows in front': {
    script: [],
    workflow: PLANNED,
    answers: plans,
    expects: { result: 'Done:\n1. a: post done\n2. b: post done\n3. c: post done\n4. d: post done' },
  },
  'words where forms and calls are due': {
    script: [],
    workflow: CHATTER,
    answers: () => ({ text: 'Yes.' }),
    expects: { result: 'Done:\n1. Yes.: Yes.' },
  },
  'tasks in a window that overflows': {
    script: [],
    workflow: dynamicTask(),
    answers: worksTasks,
    config: { contextTokens: 200 },
    expects: {
      result: 'Tasks done:\n1. first: post done\n2. zeroth: post done\n3. second: look done\n\nLast result:\nlook done',
    },
  },
};
