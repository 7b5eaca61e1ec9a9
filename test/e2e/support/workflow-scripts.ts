/** What the model answers in each built-in workflow. It goes by the words of the step, so that it needs no memory of its own. */
import { finish, type ModelCall, type Reply, type Script, use } from './scripted-model.ts';

const system = ({ messages }: ModelCall): string => messages[0]?.content ?? '';
const form = (value: object): Reply => ({ text: JSON.stringify(value) });

/** The numbered lines below a heading. */
const listed = (text: string, heading: string): readonly string[] => {
  const [, below = ''] = text.split(`${heading}:\n`);
  return (below.split('\n\n')[0] ?? '').split('\n').flatMap((line) => /^\d+\. (.*)$/.exec(line)?.[1] ?? []);
};

const write = (path: string, content: string): Reply => use('write_file', { path, content });

const goal: Script = ({ n }) => (n === 1 ? use('think', { thought: 'Say it.' }) : finish('the goal is reached'));

/** The plan comes as a bare "Yes." first: the repair round has to get it. */
const tasks: Script = (call) => {
  const words = system(call);
  if (words.startsWith('You plan')) {
    const again = call.messages.at(-1)?.content?.includes('held no JSON') === true;
    return again ? form({ tasks: ['alpha', 'beta'] }) : { text: 'Yes.' };
  }
  // A bare array is a good answer too.
  if (words.includes('Give the waiting tasks')) {
    return { text: JSON.stringify([...listed(words, 'Tasks that are waiting')].sort().reverse()) };
  }
  if (words.includes('give that one new task')) {
    return form({ tasks: listed(words, 'Tasks done so far').length === 1 ? ['gamma'] : [] });
  }
  const task = /Your task now:\n(\w+)/.exec(words)?.[1] ?? 'none';
  return write(`${task}.txt`, task);
};

/** Ada is invited, Bob is turned down, in words instead of the form. */
const recruitment: Script = (call) => {
  const words = system(call);
  const who = /cv-(\w+)\.txt/.exec(words.split('Read this CV:\n').at(-1) ?? '')?.[1] ?? 'nobody';
  if (words.includes('List the files')) return use('list_files', {});
  if (call.form === 'tasks') return form({ tasks: ['cv-ada.txt', 'cv-bob.txt'] });
  if (call.form === 'choice') return words.includes('The CV cv-ada.txt') ? form({ label: 'YES' }) : { text: 'No.' };
  if (words.includes('Read this CV')) return use('read_file', { path: `cv-${who}.txt` });
  const name = words.includes('The CV cv-ada.txt') ? 'ada' : 'bob';
  return write(`outbox/${words.includes('is a match') ? 'accepted' : 'rejected'}-${name}.md`, 'To: …');
};

const salesEngagement =
  (site: () => string): Script =>
  (call) => {
    const words = system(call);
    const lead = /The lead:\n(\w+)/.exec(words)?.[1] ?? 'nobody';
    if (call.form === 'tasks') return form({ tasks: ['ada of Acme', 'bob of Bolt'] });
    if (words.includes('Look whether an answer came')) return use('list_files', {});
    if (words.includes('Write a short letter')) return write(`outbox/${lead}-1.md`, 'Hello');
    if (words.includes('Write the next letter')) return write(`outbox/${lead}-2.md`, 'Hello again');
    if (words.includes('one request')) return use('http_request', { method: 'GET', url: `${site()}/${lead}` });
    return call.tools.includes('http_request')
      ? use('http_request', { method: 'GET', url: `${site()}/leads` })
      : use('list_files', {});
  };

const supercoder: Script = (call) => {
  const words = system(call);
  if (words.includes('Write the specification')) return write('spec.md', 'It adds.');
  if (words.includes('Write the tests')) return write('tests/add.test.js', 'add(1, 2) === 3');
  const turnedDown = call.messages.some(({ content }) => content?.includes('It cannot subtract.') === true);
  const path = turnedDown ? 'better.js' : 'add.js';
  const wrote = call.messages.some(({ tool_calls: calls = [] }) =>
    calls.some(({ function: { arguments: text } }) => text.includes(`"${path}"`)),
  );
  return wrote ? finish(`files: ${path}`) : write(path, '(a, b) => a + b');
};

export const scriptsOf = (site: () => string): { readonly [workflow: string]: Script } => ({
  goal,
  'dynamic-task': tasks,
  'fixed-task': tasks,
  recruitment,
  'sales-engagement': salesEngagement(site),
  supercoder,
});
