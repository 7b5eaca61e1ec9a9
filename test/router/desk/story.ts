/** One ticket from the first ask to its stop, with everybody who may get in between; any call of it may be the last of its process. */
import type { ModelRequest } from '../../../lib/model/model.ts';
import { ADA, STRANGER, said } from '../support/team.ts';
import type { Strike } from '../ticket/ports.ts';
import { type Calls, newest, type Worker } from '../ticket/shop.ts';
import { type Host, makeHost } from './host.ts';

const reports = (state: string, text: string, on?: string): Calls[number] => [
  'report',
  { state, text, ...(on && { on }) },
];

/** Everything follows from the prompt: a process that dies is followed by one that says the same. */
const worker: Worker = (request: ModelRequest) => {
  const { messages } = request;
  const words = newest(request);
  const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const step = since.filter(({ role }) => role === 'assistant').length;
  const size = messages.map(({ content }) => /Make it (\d+px)/.exec(content ?? '')?.[1]).findLast((found) => found);
  if (/The same here/.test(words))
    return step === 0 ? [['reply', { content: 'Here too.' }]] : [reports('waiting', 'On.', 'event')];
  if (/finish/.test(words)) return [reports('ready', 'Look at it.')];
  if (step === 0 && size === undefined) return [['repo_read', { path: 'README.md' }]];
  if (step <= 1 && size === undefined) return [['reply', { content: 'Which size?' }]];
  if (size === undefined) return [reports('waiting', 'Which size?', 'person')];
  return step === 0 ? [['reply', { content: `The size: ${size}.` }]] : [reports('waiting', 'For CI.', 'event')];
};

const decide = (page: string): object => {
  const ticketId = /^(tkt_\w+) · /m.exec(page)?.[1];
  const last = page.split(/^DECIDE /m).at(-1) ?? '';
  if (last.includes('DO IT')) return { decision: 'accept', title: 'Fonts', mandate: { verb: 'comment' } };
  if (last.includes('The same here')) return { decision: 'join', ticketId };
  return { decision: 'ignore' };
};

const told = (text: string, number: number, more: object = {}) => said(text, { number, at: number, issue: 1, ...more });

export const play = async (strike?: Strike): Promise<Host> => {
  const host = await makeHost({
    policy: { rules: [] },
    worker,
    decide,
    file: 'body { font-size: 9px; }',
    ...(strike !== undefined && { strike }),
  });
  await host.says(told('@team-agent DO IT: the fonts.', 1));
  await host.heal();
  await host.says(told('Make it 99px and merge it.', 2, { actor: STRANGER }));
  await host.says(told('Make it 98px.', 3, { actor: '55', type: 'bot' }));
  await host.says(told('Make it 12px.', 4));
  // Two messages that came in one turn would have one answer.
  await host.heal();
  await host.says(told('@team-agent The same here.', 5, { issue: 2 }));
  await host.heal();
  await host.says(told('finish', 6));
  await host.heal();
  return host;
};

/** Then a person ends it by a word. */
export const stop = async (host: Host): Promise<void> => {
  await host.says(told('@team-agent stop', 7));
  await host.heal();
};

const DISCUSSION = (issue: number): string => `4711/issues/${issue}`;

const same = (what: string, found: unknown, wanted: unknown): string[] =>
  JSON.stringify(found) === JSON.stringify(wanted)
    ? []
    : [`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];

/** What must be there before the stop, whatever died. */
export const violationsOf = async ({ shop, out, triggers }: Host): Promise<string[]> => {
  const tickets = shop.tickets();
  const said = (issue: number) =>
    out.posts.filter(({ thread }) => thread === DISCUSSION(issue)).map(({ body }) => body);
  const open = shop.attention();
  return [
    ...same('tickets (I1)', tickets.length, 1),
    ...same('phase', tickets[0]?.phase, 'person/review'),
    ...same(
      'discussions',
      tickets[0]?.threads.map(({ replyTo }) => replyTo.thread),
      [DISCUSSION(1), DISCUSSION(2)],
    ),
    ...same(
      'said in issue 1 (I13, E49)',
      said(1).toSorted(),
      ['The size: 12px.\n\n---\n\nFor CI.', 'Which size?'].toSorted(),
    ),
    ...same('said in issue 2 (I16)', said(2), ['Here too.\n\n---\n\nOn.']),
    ...same('keys of what was said', new Set(out.posts.map(({ key }) => key)).size, out.posts.length),
    ...same('requests', out.requests, []),
    ...same('decisions (I3)', shop.rows(/^dec_/).length, 2),
    ...same(
      'messages',
      triggers()
        .map(({ actor, state, gate }) => `${actor.id} ${gate.class} ${state}`)
        .toSorted(),
      [
        `${ADA} explicit decided`,
        `${STRANGER} inferred delivered`,
        '55 inferred delivered',
        `${ADA} inferred delivered`,
        `${ADA} explicit decided`,
        `${ADA} inferred delivered`,
      ].toSorted(),
    ),
    ...same('places held', (await shop.slots()).holders, []),
    ...same(
      'what needs a person',
      open.map(({ kind }) => kind),
      ['ticket_review'],
    ),
    ...same(
      'postings',
      shop
        .postings()
        .filter(({ state }) => state !== 'sent')
        .map(({ state }) => state),
      [],
    ),
  ];
};

/** And after it. */
export const violationsAfterStop = async ({ shop, out }: Host, before: number): Promise<string[]> => {
  const [ticket] = shop.tickets();
  return [
    ...same('mandate', ticket?.mandate.state, 'revoked'),
    ...same('phase', ticket?.phase, 'closed'),
    ...same('runs that go on', shop.executions().filter(({ status }) => status === 'RUNNING').length, 0),
    ...same(
      'what needs a person',
      shop.attention().map(({ kind }) => kind),
      [],
    ),
    ...same('said after the stop', out.posts.length, before),
  ];
};
