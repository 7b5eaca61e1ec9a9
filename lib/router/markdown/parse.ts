import type { Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { withinBudget } from './within-budget.ts';

export interface ParsedMarkdown {
  readonly tree: Root;
  /** What the positions of the tree count in: the text, or its beginning where all of it would take too long. */
  readonly text: string;
  readonly whole: boolean;
}

/** Reads text as GitHub does. Any text is Markdown; nothing is thrown. */
export const parseMarkdown = (markdown: string): ParsedMarkdown => {
  const text = withinBudget(markdown);
  const tree = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return { tree, text, whole: text.length === markdown.length };
};

export const childrenOf = (node: Nodes): readonly Nodes[] => ('children' in node ? node.children : []);
