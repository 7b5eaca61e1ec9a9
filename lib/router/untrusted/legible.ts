/**
 * Text of others as its readers see it: a model must not read more than the people who decide whether to trust it. Pure.
 */
import type { Nodes } from 'mdast';
import { childrenOf, parseMarkdown } from '../markdown/parse.ts';
import { makeHtmlCleaner } from './clean-html.ts';
import { type Edit, edited } from './edit.ts';
import { type Finding, hiddenParts } from './hidden-parts.ts';
import { withoutInvisible } from './invisible.ts';

export interface Legible {
  readonly text: string;
  /** Something was taken out that readers do not see. */
  readonly hidden: boolean;
  /** What was found, each once, in the order of the alphabet. `collapsed` sections stay: one click shows them. */
  readonly found: readonly Finding[];
}

const REST_LEFT_OUT = '\n[The rest is too tangled to be read and was left out.]\n';

/**
 * Markdown without what is not seen in it: comments, invisible characters, unseen elements and attributes of HTML, link
 * definitions that nothing uses, titles, long descriptions of images, what stands behind a fence's language. Code and quotes
 * stay as they are.
 */
export const legible = (markdown: string): Legible => {
  const plain = withoutInvisible(markdown);
  const found = new Set<Finding>();
  if (plain.invisible) found.add('invisible');
  if (plain.control) found.add('control');
  const { tree, text, whole } = parseMarkdown(plain.text);
  const tell = (finding: Finding): void => void found.add(finding);
  const edits: Edit[] = [];
  const html = makeHtmlCleaner(text, tell, (edit) => edits.push(edit));
  const unused = hiddenParts(tree, text, tell);
  const steps: Nodes[] = [tree];
  for (let node = steps.pop(); node !== undefined; node = steps.pop()) {
    if (node.type === 'html') html.read(node);
    else edits.push(...unused(node));
    for (const child of childrenOf(node).toReversed()) steps.push(child);
  }
  html.end();
  if (!whole) found.add('tangled');
  return {
    text: edited(text, edits) + (whole ? '' : REST_LEFT_OUT),
    hidden: [...found].some((finding) => finding !== 'collapsed'),
    found: [...found].sort(),
  };
};
