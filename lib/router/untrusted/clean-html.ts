import type { Html } from 'mdast';
import { type HtmlPiece, htmlPieces, isUnseen } from '../markdown/html-pieces.ts';
import type { Edit } from './edit.ts';
import { description, type Finding } from './hidden-parts.ts';

/** Marks of quotes and lists at the beginning of a line. */
const CONTAINERS = /^(?:[ \t]{0,3}(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]))*[ \t]*/;

type Open = Extract<HtmlPiece, { is: 'open' }>;

const WITH_ADDRESS: readonly string[] = ['href', 'src'];

/** Whether an attribute that is left out could have said something. */
const speaks = (value: string): boolean => value.length > 40 || /\s\S/.test(value.trim());

/** The tag with what a reader sees or follows of it, and nothing else. */
const plainTag = (piece: Open, tell: (finding: Finding) => void): string => {
  const kept: string[] = [];
  for (const [name, value] of piece.attributes) {
    if (WITH_ADDRESS.includes(name) && !/[\s"<>]/.test(value)) kept.push(`${name}="${value}"`);
    else if (name === 'alt') kept.push(`alt="${description(value, tell).replaceAll('"', "'")}"`);
    else if (name === 'open' && piece.name === 'details') kept.push('open');
    else if (speaks(value)) tell('attribute');
  }
  return `<${[piece.name, ...kept].join(' ')}>`;
};

/**
 * Goes through the HTML of a text in its order. An element that is not seen takes what is in it along, over as many pieces of
 * Markdown as it encloses; one that is never closed reaches to the end.
 */
export const makeHtmlCleaner = (
  text: string,
  tell: (finding: Finding) => void,
  put: (edit: Edit) => void,
): { read(node: Html): void; end(): void } => {
  /** The unseen element that is open, and how often its name is open inside of it. */
  let unseen: { readonly name: string; depth: number; readonly from: number } | undefined;

  /** What is seen of a piece of HTML; blanks stand for what is not, so that nothing new grows together. */
  const seenOf = (pieces: readonly HtmlPiece[], nodeEnd: number): string => {
    let seen = '';
    for (const piece of pieces) {
      if (unseen !== undefined) {
        if (piece.is === 'open' && piece.name === unseen.name && !piece.empty) unseen.depth++;
        if (piece.is === 'close' && piece.name === unseen.name && --unseen.depth === 0) unseen = undefined;
      } else if (piece.is === 'comment') {
        tell('comment');
        seen += ' ';
      } else if (piece.is === 'open' && isUnseen(piece)) {
        tell('element');
        seen += ' ';
        if (!piece.empty) unseen = { name: piece.name, depth: 1, from: nodeEnd };
      } else if (piece.is === 'open') {
        if (piece.name === 'details') tell('collapsed');
        seen += plainTag(piece, tell);
      } else seen += piece.raw;
    }
    return seen;
  };

  return {
    read(node) {
      const from = node.position?.start.offset ?? 0;
      const to = node.position?.end.offset ?? from;
      const before = unseen;
      const seen = seenOf(htmlPieces(node.value), to);
      if (before !== undefined && unseen === before) return; // inside of something that goes on
      // In a quote or a list each line of the text begins with the container's mark, which the value does not show.
      const line = text.slice(text.lastIndexOf('\n', from - 1) + 1, from);
      const margin = (CONTAINERS.exec(line)?.[0] ?? '').replace(/[^>\s]/g, ' ');
      const start = before === undefined ? from : before.from;
      if (before !== undefined || seen !== node.value)
        put({ from: start, to, with: seen.replaceAll('\n', `\n${margin}`) });
    },
    end() {
      if (unseen !== undefined) put({ from: unseen.from, to: text.length, with: '' });
    },
  };
};
