import { describe, expect, it } from 'vitest';
import { choiceOutput, readChoice, readTasks, tasksOutput } from '../../../lib/workflow/structured.ts';
import { type Conversation, readConversation } from '../../../local/rehearsal/conversation.ts';
import { fillForm, oneCall } from '../../../local/rehearsal/step.ts';

const asked = (system: string, output: { readonly name: string; readonly schema: object }): Conversation => {
  const conversation = readConversation({
    messages: [{ role: 'system', content: system }],
    response_format: { type: 'json_schema', json_schema: output },
  });
  if (conversation?.form === undefined) throw new Error('The form was not read.');
  return conversation;
};
const filled = (system: string, output: Parameters<typeof asked>[1]): string => {
  const conversation = asked(system, output);
  return fillForm(conversation.form ?? {}, conversation);
};

describe('forms', () => {
  it('each goal is a task', () => {
    const reply = filled('You plan.\n\nGoals:\n1. first\n2. second\n\nInstructions:\n(none)', tasksOutput(500));
    expect(readTasks(reply)).toEqual({ ok: true, value: ['first', 'second'] });
    const one = filled('Goals:\n1. first\n2. second', tasksOutput(1));
    expect(readTasks(one, { most: 1 })).toEqual({ ok: true, value: ['first'] });
  });

  it('waiting tasks stay as they are, and none is added', () => {
    const waiting = 'Tasks that are waiting:\n1. a\n2. b\n\n';
    expect(readTasks(filled(`${waiting}Give them in order, and add none.`, tasksOutput(500)))).toMatchObject({
      value: ['a', 'b'],
    });
    expect(readTasks(filled(`${waiting}Give one new task.`, tasksOutput(500)))).toMatchObject({ value: [] });
  });

  it('a choice is its first label', () => {
    expect(readChoice(filled('Well?', choiceOutput(['YES', 'NO'])), ['YES', 'NO'])).toEqual({ ok: true, value: 'YES' });
  });
});

describe('a step about one call', () => {
  const step = (system: string, tools: readonly string[]): Conversation => ({
    messages: [{ role: 'system', content: system, calls: [], callId: '' }],
    tools,
  });

  it('calls the tool, with the file that the step names', () => {
    const [call] = oneCall(step('Write the specification into spec.md: all of it.', ['write_file'])).calls;
    expect(call).toMatchObject({ name: 'write_file', args: { path: 'spec.md' } });
    expect(oneCall(step('List the files.', ['list_files'])).calls).toEqual([{ name: 'list_files', args: {} }]);
  });

  it('says that it cannot, where it knows no arguments', () => {
    expect(oneCall(step('Ask a website.', ['http_request']))).toMatchObject({ calls: [] });
  });
});
