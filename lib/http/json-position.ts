/**
 * Where a text stops being JSON, in characters from 0. V8 tells the position for some mistakes only, and quotes the text.
 * Called for texts that `JSON.parse` refused; the end of the text when it merely breaks off.
 */
export const malformedAt = (text: string): number => {
  const open: string[] = [];
  let at = 0;
  let want: 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end' = 'value';

  for (;;) {
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
    const character = text.charAt(at);
    if (character === '') return at;
    const inside = open.at(-1);
    if (want === 'colon') {
      if (character !== ':') return at;
      at++;
      want = 'value';
    } else if (want === 'comma or end') {
      if (inside === undefined) return at;
      if (character === ',') want = inside === '{' ? 'name' : 'value';
      else if (character === (inside === '{' ? '}' : ']')) open.pop();
      else return at;
      at++;
    } else if ((want === 'value or ]' && character === ']') || (want === 'name or }' && character === '}')) {
      open.pop();
      at++;
      want = 'comma or end';
    } else if (want === 'name' || want === 'name or }') {
      const end = character === '"' ? stringEnd(text, at) : { at, good: false };
      if (!end.good) return end.at;
      at = end.at;
      want = 'colon';
    } else if (character === '{' || character === '[') {
      open.push(character);
      at++;
      want = character === '{' ? 'name or }' : 'value or ]';
    } else {
      const end = character === '"' ? stringEnd(text, at) : literalEnd(text, at);
      if (!end.good) return end.at;
      at = end.at;
      want = 'comma or end';
    }
  }
};

interface End {
  readonly at: number;
  readonly good: boolean;
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const LITERAL = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

const stringEnd = (text: string, start: number): End => {
  let at = start + 1;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '"') return { at: at + 1, good: true };
    if (character < ' ') return { at, good: false };
    if (character === '\\') {
      ESCAPE.lastIndex = at;
      const sequence = ESCAPE.exec(text);
      if (sequence === null) return { at, good: false };
      at += sequence[0].length;
    } else at++;
  }
  return { at, good: false };
};

const literalEnd = (text: string, at: number): End => {
  LITERAL.lastIndex = at;
  const literal = LITERAL.exec(text);
  return literal === null ? { at, good: false } : { at: at + literal[0].length, good: true };
};
