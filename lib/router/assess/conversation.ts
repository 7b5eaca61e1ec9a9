/** The talk with the model about one batch: the page, readings, one repair, and what its proposals come to. */
import type { ResolvedModel } from '../../execution/step/deps.ts';
import type { ChatMessage, ToolCall } from '../../model/model.ts';
import type { VersionedPolicy } from '../policy/policy.ts';
import type { ThreadLease } from '../thread/lease.ts';
import type { Thread } from '../thread/thread.ts';
import type { Trigger } from '../thread/trigger.ts';
import type { Ticket } from '../ticket/ticket.ts';
import { type Bought, buy, type Halt } from './buy.ts';
import { readDecisions } from './decisions.ts';
import type { AssessDeps } from './deps.ts';
import { pageText } from './page.ts';
import { systemPrompt } from './prompt.ts';
import { type Readable, read, readTool } from './read.ts';
import { relatedTickets } from './related.ts';
import { type Ruling, rule } from './rule.ts';
import type { StoredReply } from './stored-reply.ts';
import { loadWindow } from './window.ts';

export interface Batch {
  readonly thread: Thread;
  /** With the Gate's verdicts of now; at most ten. */
  readonly triggers: readonly Trigger[];
  readonly policy: VersionedPolicy;
  readonly model: ResolvedModel;
  /** Bought by an Eval that died, about this very batch. */
  readonly bought: readonly StoredReply[];
  readonly basis: StoredReply['basis'];
  /** Numbers the calls within the epoch. */
  readonly nextRound: () => number;
  readonly remainingMs: () => number;
}

export type Talked =
  /** By trigger id; what is missing was not decided. */
  | { readonly kind: 'rulings'; readonly rulings: ReadonlyMap<string, Ruling> }
  | { readonly kind: 'halt'; readonly why: Halt }
  | Extract<Bought, { kind: 'retry' }>;

/** Readings of one talk. */
const MOST_READINGS = 16;
/** Calls of the model in one talk: what is not decided then was forgotten. */
const MOST_CALLS = 12;

export const talk = async (deps: AssessDeps, lease: ThreadLease, batch: Batch): Promise<Talked> => {
  const { thread, triggers, policy } = batch;
  const mark = deps.newMark();
  const repositoryId =
    triggers.find((trigger) => trigger.repositoryId !== undefined)?.repositoryId ?? thread.repositoryId;
  const [{ shown, more }, related] = await Promise.all([
    loadWindow(deps.table, thread.orgId, thread.id, triggers),
    relatedTickets(deps, thread, repositoryId),
  ]);
  const tickets = new Map(related.map((ticket) => [ticket.id, ticket] as const));
  const readable: Readable = { table: deps.table, thread, tickets, policy, mark };
  const messages: ChatMessage[] = [
    { role: 'system', content: systemPrompt(policy) },
    { role: 'user', content: pageText({ thread, shown, more, tickets: related, policy, mark }) },
  ];
  const old = [...batch.bought];
  let readings = 0;
  let mended = false;
  for (let call = 0; call < MOST_CALLS; call++) {
    const tools = readings < MOST_READINGS ? [readTool] : [];
    const bought = await next(deps, lease, batch, old, messages, tools);
    if (bought.kind !== 'reply') return bought;
    const { reply } = bought;
    messages.push({
      role: 'assistant',
      content: reply.content,
      ...(reply.calls.length > 0 && { toolCalls: reply.calls }),
    });
    if (reply.calls.length > 0) {
      for (const one of reply.calls) messages.push(await outcomeOf(readable, one, readings++ < MOST_READINGS));
      continue;
    }
    const { rulings, problems } = rulingsOf(reply.content, batch, tickets, mended);
    if (problems.length === 0 || mended) return { kind: 'rulings', rulings };
    mended = true;
    messages.push({ role: 'user', content: `${problems.join('\n')}\nAnswer again, with all decisions, as JSON.` });
  }
  return { kind: 'rulings', rulings: new Map() };
};

const next = async (
  deps: AssessDeps,
  lease: ThreadLease,
  { thread, model, basis, nextRound, remainingMs }: Batch,
  old: StoredReply[],
  messages: readonly ChatMessage[],
  tools: Parameters<typeof buy>[2]['tools'],
): Promise<Bought> => {
  const known = old.shift();
  if (known !== undefined) return { kind: 'reply', reply: known };
  return buy(deps, lease, {
    thread,
    model,
    messages: [...messages],
    tools,
    round: nextRound(),
    basis,
    remainingMs: remainingMs(),
  });
};

const outcomeOf = async (
  readable: Readable,
  { id, name, arguments: args }: ToolCall,
  may: boolean,
): Promise<ChatMessage> => {
  const content =
    name !== readTool.name ? 'There is no such tool.' : may ? await read(readable, args) : 'No more reading: decide.';
  return { role: 'tool', toolCallId: id, content };
};

/** The first ruling about a Trigger counts; one about another page's is nobody's. */
const rulingsOf = (
  content: string,
  { triggers, policy, thread }: Batch,
  tickets: ReadonlyMap<string, Ticket>,
  lenient: boolean,
): { readonly rulings: ReadonlyMap<string, Ruling>; readonly problems: readonly string[] } => {
  const rulings = new Map<string, Ruling>();
  const reply = readDecisions(content, lenient);
  if (!reply.ok) return { rulings, problems: [reply.problem] };
  const problems: string[] = [];
  const asked = new Map(triggers.map((trigger) => [trigger.id, trigger] as const));
  for (const proposal of reply.proposals) {
    const trigger = asked.get(proposal.triggerId);
    if (trigger === undefined || rulings.has(proposal.triggerId)) continue;
    const ruling = rule(proposal, { trigger, policy, threadTitle: thread.title, tickets });
    if (typeof ruling === 'string') problems.push(ruling);
    else rulings.set(trigger.id, ruling);
  }
  return { rulings, problems };
};
