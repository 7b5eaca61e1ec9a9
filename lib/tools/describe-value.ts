/** Shape of a value in words, short enough for a sentence: what came, for messages about bad input. */
export const describeValue = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  switch (typeof value) {
    case 'string':
      return value.length <= 40 ? `the text ${JSON.stringify(value)}` : `a text of ${value.length} characters`;
    case 'number':
      return `the number ${value}`;
    case 'boolean':
      return `${value}`;
    default: {
      const names = Object.keys(value);
      const shown = names.slice(0, 5).join(', ');
      return names.length === 0 ? 'an empty object' : `an object with ${shown}${names.length > 5 ? ', …' : ''}`;
    }
  }
};
