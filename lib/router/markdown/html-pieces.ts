/** A piece of HTML as it stands in Markdown. Nothing is ever rendered from this: it tells what a reader would not see. */
export type HtmlPiece =
  | { readonly is: 'text'; readonly raw: string }
  /** Comments, declarations, processing instructions. */
  | { readonly is: 'comment'; readonly raw: string }
  | {
      readonly is: 'open';
      readonly raw: string;
      readonly name: string;
      readonly attributes: ReadonlyMap<string, string>;
      /** Has no content: `<br>`, `<x/>`. */
      readonly empty: boolean;
    }
  | { readonly is: 'close'; readonly raw: string; readonly name: string };

const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);

/** Opening bracket, and what ends the thing; without its end it reaches to the end of the text. */
const COMMENTS: readonly (readonly [string, string])[] = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<!', '>'],
  ['<?', '?>'],
];
const TAG = /<(\/?)([A-Za-z][A-Za-z0-9-]*)((?:[^<>"']|"[^"]*"|'[^']*')*)>/y;
const ATTRIBUTE = /([^\s=/>"'<]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;

const attributesOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(ATTRIBUTE)].map(([, name = '', double, single, bare]) => [
      name.toLowerCase(),
      double ?? single ?? bare ?? '',
    ]),
  );

const commentAt = (html: string, at: number): string | undefined => {
  const kind = COMMENTS.find(([open]) => html.startsWith(open, at));
  if (kind === undefined) return undefined;
  const [open, close] = kind;
  // `<!-->` and `<!--->` are whole comments.
  const from = open === '<!--' ? at + 2 : at + open.length;
  const end = html.indexOf(close, from);
  return end === -1 ? html.slice(at) : html.slice(at, end + close.length);
};

const tagAt = (html: string, at: number): HtmlPiece | undefined => {
  TAG.lastIndex = at;
  const found = TAG.exec(html);
  if (found === null) return undefined;
  const [raw, slash, given = '', rest = ''] = found;
  const name = given.toLowerCase();
  if (slash === '/') return { is: 'close', raw, name };
  return { is: 'open', raw, name, attributes: attributesOf(rest), empty: VOID.has(name) || rest.endsWith('/') };
};

/** The pieces of an HTML text, in order; together they are the text. */
export const htmlPieces = (html: string): readonly HtmlPiece[] => {
  const pieces: HtmlPiece[] = [];
  let textFrom = 0;
  let at = html.indexOf('<');
  while (at !== -1) {
    const comment = commentAt(html, at);
    const piece: HtmlPiece | undefined = comment === undefined ? tagAt(html, at) : { is: 'comment', raw: comment };
    if (piece === undefined) {
      at = html.indexOf('<', at + 1);
      continue;
    }
    if (at > textFrom) pieces.push({ is: 'text', raw: html.slice(textFrom, at) });
    pieces.push(piece);
    textFrom = at + piece.raw.length;
    at = html.indexOf('<', textFrom);
  }
  if (textFrom < html.length) pieces.push({ is: 'text', raw: html.slice(textFrom) });
  return pieces;
};

/** What browsers do not show, or GitHub takes away together with what is in it. */
const UNSEEN: ReadonlySet<string> = new Set(
  'script style template head title noscript iframe object math svg select textarea datalist audio video canvas noembed noframes xmp plaintext'.split(
    ' ',
  ),
);

/** Whether what is in an element stays unseen, by its name or by an attribute that some renderers obey. */
export const isUnseen = ({ name, attributes }: Extract<HtmlPiece, { is: 'open' }>): boolean =>
  UNSEEN.has(name) ||
  attributes.has('hidden') ||
  attributes.get('aria-hidden') === 'true' ||
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d]*[1-9])|color\s*:\s*(?:transparent|white|#f{3}(?:f{3})?\b)/i.test(
    attributes.get('style') ?? '',
  );
