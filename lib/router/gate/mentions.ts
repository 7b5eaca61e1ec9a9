/**
 * Who is meant by a text, as its readers see it: what stands in code, quotes, HTML, struck-out text, collapsed sections or
 * quoted mail is nobody's own word and names nobody (router-bugs D38). Pure.
 */
import type { Nodes } from 'mdast';
import { htmlPieces, isUnseen } from '../markdown/html-pieces.ts';
import { childrenOf, parseMarkdown } from '../markdown/parse.ts';
import { withoutQuotedMail } from './quoted-mail.ts';

/** A piece of text that the author says. */
interface Run {
  readonly text: string;
  /** Not in the label of a link, where a mention is none on GitHub either. */
  readonly mayName: boolean;
}

interface Spoken {
  /** What the author says, without markup; paragraphs and lines are lines. */
  readonly text: string;
  /** Something in it is not seen by readers. */
  readonly hidden: boolean;
}

/** Not the author's own, plain words. */
const NOT_SPOKEN: ReadonlySet<Nodes['type']> = new Set([
  'blockquote',
  'code',
  'definition',
  'delete',
  'footnoteDefinition',
  'image',
  'imageReference',
  'inlineCode',
]);
const LINES: ReadonlySet<Nodes['type']> = new Set(['heading', 'listItem', 'paragraph', 'tableCell', 'thematicBreak']);

/** Walks in the order of the text, without recursion: nesting is the author's to choose. */
const runsOf = (markdown: string): { readonly runs: readonly Run[]; readonly hidden: boolean } => {
  const runs: Run[] = [];
  let hidden = false;
  /** Names of open elements in which nothing is spoken; an element that is never closed reaches to the end. */
  const shut: string[] = [];
  const html = (value: string): void => {
    for (const piece of htmlPieces(value)) {
      if (piece.is === 'comment') hidden = true;
      if (piece.is === 'close' && piece.name === shut.at(-1)) shut.pop();
      if (piece.is !== 'open' || piece.empty) continue;
      if (isUnseen(piece)) hidden = true;
      if (isUnseen(piece) || piece.name === 'details' || piece.name === shut.at(-1)) shut.push(piece.name);
    }
  };
  type Step = { readonly node: Nodes; readonly inLink: boolean } | 'line';
  const steps: Step[] = [{ node: parseMarkdown(withoutQuotedMail(markdown)).tree, inLink: false }];
  const then = (nodes: readonly Nodes[], inLink: boolean): void => {
    for (const node of nodes.toReversed()) steps.push({ node, inLink });
  };
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if (step === 'line') {
      runs.push({ text: '\n', mayName: false });
      continue;
    }
    const { node, inLink } = step;
    if (node.type === 'html') html(node.value);
    // An element is closed by HTML alone, which may stand further inside.
    else if (NOT_SPOKEN.has(node.type) || shut.length > 0) then(htmlBelow(node), inLink);
    else if (node.type === 'text') runs.push({ text: node.value, mayName: !inLink });
    else if (node.type === 'break') runs.push({ text: '\n', mayName: false });
    else {
      if (LINES.has(node.type)) steps.push('line');
      then(childrenOf(node), inLink || node.type === 'link' || node.type === 'linkReference');
    }
  }
  return { runs, hidden };
};

/** HTML inside a node that is otherwise passed over. What a quote opens, its end closes. */
const htmlBelow = (node: Nodes): readonly Nodes[] => {
  const found: Nodes[] = [];
  const open: Nodes[] = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.type === 'html') found.push(next);
    else if (next.type !== 'blockquote') for (const child of childrenOf(next).toReversed()) open.push(child);
  }
  return found;
};

/** What the author says: without code, quotes, HTML, struck-out text, collapsed sections and quoted mail. */
export const spoken = (markdown: string): Spoken => {
  const { runs, hidden } = runsOf(markdown);
  const text = runs.map((run) => run.text).join('');
  return { text: text.replace(/\n{2,}/g, '\n').trim(), hidden };
};

/** Logins are ASCII; Chinese and the like often stand right beside a mention and are no part of a word there. */
const BEFORE = /[\p{Script=Latin}\p{N}\p{M}_/@`]/u;
const AFTER = /[\p{Script=Latin}\p{N}\p{M}_\-/@]/u;

const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Ends of the places in a piece of text where the handle stands as a whole word. */
const endsIn = (text: string, handle: string): readonly number[] => {
  const plain = lower(text);
  const wanted = `@${lower(handle)}`;
  const ends: number[] = [];
  for (let at = plain.indexOf(wanted); at !== -1; at = plain.indexOf(wanted, at + 1)) {
    const bare = at + wanted.length;
    const end = plain.startsWith('[bot]', bare) ? bare + '[bot]'.length : bare;
    const after = text.slice(end, end + 2);
    const longer = AFTER.test([...after][0] ?? '') || /^\.[A-Za-z0-9]/.test(after);
    if (!longer && !BEFORE.test([...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '')) ends.push(end);
  }
  return ends;
};

/** A login as it is written in a mention: GitHub's REST API says `name[bot]`, people and GraphQL say `name`. */
export const handleOf = (login: string): string => login.replace(/\[bot\]$/i, '');

/** Characters behind a mention that are looked at. */
const FOLLOWING = 200;

const following = (runs: readonly Run[], index: number, end: number): string => {
  let text = runs[index]?.text.slice(end, end + FOLLOWING) ?? '';
  for (let next = index + 1; next < runs.length && text.length < FOLLOWING; next++) text += runs[next]?.text ?? '';
  return text;
};

/** The beginning of what follows each mention of the handle in what the author says, markup aside. */
export const afterMentions = (markdown: string, login: string): readonly string[] => {
  const handle = handleOf(login);
  // Most texts name nobody, and need no parser to say so.
  if (handle === '' || !lower(markdown).includes(`@${lower(handle)}`)) return [];
  const { runs } = runsOf(markdown);
  return runs.flatMap((run, index) =>
    run.mayName ? endsIn(run.text, handle).map((end) => following(runs, index, end)) : [],
  );
};

/** Whether the text names the handle as a whole word in what its author says. Letters count without their case. */
export const namesHandle = (markdown: string, handle: string): boolean => afterMentions(markdown, handle).length > 0;
