/** What a person is asked in the middle of a run. */
import { WORKFLOW_STEP } from '../execution/rows.ts';
import type { AskChange } from '../execution/step/deps.ts';
import type { Cause, NewAttention } from './attention.ts';
import { executionPath } from './stops.ts';

type Ask = AskChange['ask'];

/** A permission is a subject of its own; a question is answered by an input to its run. */
export const askCause = ({ kind, orgId, askId, executionId, at }: Ask): Cause => ({
  orgId,
  kind,
  subject: kind === 'permission' ? { type: 'permission', id: askId } : { type: 'execution', id: executionId },
  at,
});

const EXCERPT = 300;
const short = (text: string): string => (text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT)} …`);

/** A step of a workflow puts a question of its own; of a call a person sees the call. */
const permissionQuestion = ({ tool, arguments: given, why }: Ask): string => {
  if (tool === WORKFLOW_STEP) return why;
  return `May it call ${tool} with ${short(given)}?${why.trim() === '' ? '' : ` Why: ${why.trim()}`}`;
};

const permissionItem = (ask: Ask): Pick<NewAttention, 'question' | 'url' | 'actions'> => {
  const url = `/v1/permissions/${ask.askId}`;
  const decide = (label: string, decision: string) => ({
    label,
    method: 'POST' as const,
    path: `${url}/decision`,
    // It counts for the call as it is shown and for no other.
    body: { decision, argumentsHash: ask.argumentsHash },
  });
  return {
    question: permissionQuestion(ask),
    url,
    actions: [decide('Approve', 'approve'), decide('Reject', 'reject')],
  };
};

const questionItem = (ask: Ask): Pick<NewAttention, 'question' | 'url' | 'actions'> => {
  const url = executionPath(ask.executionId);
  return {
    question: ask.why,
    url,
    actions: [
      {
        label: 'Leave it to the agent',
        method: 'POST',
        path: `${url}/input`,
        body: { content: 'Decide it yourself, as you think best.' },
      },
      { label: 'Terminate', method: 'POST', path: `${url}/terminate` },
    ],
  };
};

export const askItem = (ask: Ask): NewAttention => ({
  ...askCause(ask),
  executionId: ask.executionId,
  ...(ask.kind === 'permission' ? permissionItem(ask) : questionItem(ask)),
});
