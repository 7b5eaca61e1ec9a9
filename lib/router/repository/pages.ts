/** Pages of what was read, in code points (spec N6). */
import * as z from 'zod';
import type { ToolResult } from '../../tools/tool.ts';
import { slice } from '../points.ts';
import { no, yes } from '../ticket/tools/context.ts';
import { type Facts, framed, newMark } from '../untrusted/frame.ts';
import { legible } from '../untrusted/legible.ts';

const PAGE = 4_000;
const LONGEST_PAGE = 8_000;

export const pageFields = {
  offset: z.int().min(0).max(10_000_000).optional().describe('Characters to pass over.'),
  limit: z.int().min(1).max(LONGEST_PAGE).optional().describe(`Characters at most; ${PAGE} if left out.`),
};

interface PageRequest {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** One page of a text of others, in its frame, and where it goes on. */
export const pageOf = (text: string, { offset = 0, limit = PAGE }: PageRequest, facts: Facts): ToolResult => {
  if (text === '') return yes(`[${Object.values(facts).join(' ')}: empty]`);
  const page = slice(text, offset, Math.min(limit, LONGEST_PAGE));
  if (page.text === '') return no(`It has ${page.of} characters; there is nothing at offset ${offset}.`);
  const more = page.next === undefined ? '' : `\n[It goes on at offset ${page.next}; it has ${page.of} characters.]`;
  return yes(`${framed(newMark(), page.text, facts)}${more}`);
};

/** What people wrote, as its readers see it. */
export const said = (markdown: string | null | undefined): string => {
  if (markdown === null || markdown === undefined || markdown.trim() === '') return '(nothing)';
  const { text, hidden } = legible(markdown);
  return hidden ? `${text}\n[Something that readers do not see was left out.]` : text;
};
