/** Lines that stay, and, on a terminal, one line below them that changes: the progress bar. */
export interface Screen {
  line(text?: string): void;
  /** @param done between 0 and 1 */
  progress(done: number, text: string): void;
  /** Takes the bar away. */
  clear(): void;
}

const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[2K';

export const bar = (done: number): string => {
  const full = Math.round(Math.min(1, Math.max(0, done)) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}]`;
};

/** Text of a row on one line of a terminal. */
export const oneLine = (text: string, width: number): string => {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length <= width ? flat : `${flat.slice(0, Math.max(0, width - 1))}…`;
};

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Without a terminal the bar becomes a plain line, written when it has changed. */
export const makeScreen = (out: Output): Screen => {
  const live = out.isTTY === true;
  let shown = '';
  const line = (text = ''): void => {
    out.write(live ? `${CLEAR_LINE}${text}\n${shown}` : `${text}\n`);
  };
  return {
    line,
    progress(done, text) {
      const next = `  ${oneLine(`${bar(done)} ${text}`, live ? (out.columns ?? 80) - 3 : Number.MAX_SAFE_INTEGER)}`;
      if (next === shown) return;
      shown = next;
      out.write(live ? `${CLEAR_LINE}${next}` : `${next}\n`);
    },
    clear() {
      if (live && shown !== '') out.write(CLEAR_LINE);
      shown = '';
    },
  };
};
