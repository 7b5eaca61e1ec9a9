/**
 * A comment of ours carries the key of its posting at its end, where nobody sees it, so that a posting whose answer was
 * lost is found again in the list of comments. GitHub shows HTML comments to nobody and keeps them in `body`.
 */
const OPEN = '<!-- baton:';
const LAST = /<!-- baton:([A-Za-z0-9_-]{1,100}) -->\s*$/;
/** What a worker says may quote another comment of ours; its mark must not go along. */
const FORGED = /<!--(?=\s*baton:)/g;

/** GitHub refuses longer ones. Characters. */
const MOST_BODY = 65_536;

export const withMark = (body: string, key: string): string => {
  const mark = `\n\n${OPEN}${key} -->`;
  const plain = body.replaceAll(FORGED, '&lt;!--');
  return `${plain.slice(0, MOST_BODY - mark.length).toWellFormed()}${mark}`;
};

/** The key at the end of a comment; a mark anywhere else is a quotation. */
export const keyOf = (body: string): string | undefined => LAST.exec(body)?.[1];
