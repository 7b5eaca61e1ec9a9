import type { Code, Definition, Image, ImageReference, Link, Nodes, Root } from 'mdast';
import { childrenOf } from '../markdown/parse.ts';
import { shorten } from '../points.ts';
import type { Edit } from './edit.ts';

/** What a text can hold that its readers do not see. */
export type Finding =
  | 'alt'
  | 'attribute'
  | 'collapsed'
  | 'comment'
  | 'control'
  | 'definition'
  | 'element'
  | 'info'
  | 'invisible'
  | 'tangled'
  | 'title';

type Tell = (finding: Finding) => void;

/** An image's description is shown to those who cannot see it; more than a sentence is not for them. Code points. */
const LONGEST_DESCRIPTION = 120;

/** The description of an image in one line, without brackets that could end it. */
export const description = (alt: string, tell: Tell): string => {
  const line = alt.replace(/\s+/g, ' ').replace(/[[\]<>\\]/g, ' ');
  const short = shorten(line, LONGEST_DESCRIPTION);
  if (short !== line) tell('alt');
  return short;
};

const span = (node: Nodes): { readonly from: number; readonly to: number } => {
  const from = node.position?.start.offset ?? 0;
  return { from, to: node.position?.end.offset ?? from };
};

/** An address as Markdown takes it between angle brackets. */
const address = (url: string): string =>
  `<${url.replace(/[<>\n\r\\]/g, (character) => encodeURIComponent(character))}>`;

const ofImage = (node: Image | ImageReference, tell: Tell): readonly Edit[] => {
  const alt = node.alt ?? '';
  const shown = description(alt, tell);
  const titled = node.type === 'image' && node.title !== null && node.title !== undefined;
  if (titled) tell('title');
  if (shown === alt && !titled) return [];
  const target = node.type === 'image' ? `(${address(node.url)})` : `[${node.identifier}]`;
  return [{ ...span(node), with: `![${shown}]${target}` }];
};

const ofLink = (node: Link, tell: Tell): readonly Edit[] => {
  if (node.title === null || node.title === undefined) return [];
  tell('title');
  const { from, to } = span(node);
  const last = node.children.at(-1);
  // The label stays as it is; what is not seen in it has edits of its own.
  return [{ from: last === undefined ? from + 1 : span(last).to, to, with: `](${address(node.url)})` }];
};

const ofDefinition = (node: Definition, used: boolean, tell: Tell): readonly Edit[] => {
  const titled = node.title !== null && node.title !== undefined;
  if (used && !titled) return [];
  tell(used ? 'title' : 'definition');
  return [{ ...span(node), with: used ? `[${node.label ?? node.identifier}]: ${address(node.url)}` : '' }];
};

/** A fence's language is a word; what follows it is shown by nobody. */
const ofCode = (node: Code, text: string, tell: Tell): readonly Edit[] => {
  const { from } = span(node);
  const line = /^(`{3,}|~{3,})([^\n\r]*)/.exec(text.slice(from, from + 2_000));
  const [, fence = '', info = ''] = line ?? [];
  const language = /^[\w+#.-]{0,30}/.exec(info.trim())?.[0] ?? '';
  if (line === null || info.trim() === language) return [];
  tell('info');
  const end = text.slice(from).search(/[\n\r]/);
  return [{ from, to: end === -1 ? span(node).to : from + end, with: `${fence}${language}` }];
};

/** Identifiers that are referred to, by kind of what they refer to. */
const referredIn = (tree: Root): { readonly links: ReadonlySet<string>; readonly notes: ReadonlySet<string> } => {
  const links = new Set<string>();
  const notes = new Set<string>();
  const steps: Nodes[] = [tree];
  for (let node = steps.pop(); node !== undefined; node = steps.pop()) {
    if (node.type === 'linkReference' || node.type === 'imageReference') links.add(node.identifier);
    if (node.type === 'footnoteReference') notes.add(node.identifier);
    for (const child of childrenOf(node)) steps.push(child);
  }
  return { links, notes };
};

/** Says of each node, HTML aside, what of it is not seen. Asked in the order of the text. */
export const hiddenParts = (tree: Root, text: string, tell: Tell): ((node: Nodes) => readonly Edit[]) => {
  const { links, notes } = referredIn(tree);
  const defined = new Set<string>();
  const first = (name: string): boolean => !defined.has(name) && defined.add(name) !== undefined;
  return (node) => {
    switch (node.type) {
      case 'definition':
        return ofDefinition(node, links.has(node.identifier) && first(`link ${node.identifier}`), tell);
      case 'footnoteDefinition': {
        if (notes.has(node.identifier) && first(`note ${node.identifier}`)) return [];
        tell('definition');
        return [{ ...span(node), with: '' }];
      }
      case 'image':
      case 'imageReference':
        return ofImage(node, tell);
      case 'link':
        return ofLink(node, tell);
      case 'code':
        return ofCode(node, text, tell);
      default:
        return [];
    }
  };
};
