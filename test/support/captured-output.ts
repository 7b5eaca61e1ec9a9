import { vi } from 'vitest';

type Line = { readonly [name: string]: unknown };

/** What Powertools writes: JSON lines on this process's stdout and stderr, kept from the terminal while captured. */
export const captureOutput = () => {
  const lines: Line[] = [];
  const keep = (chunk: unknown): boolean => {
    for (const line of String(chunk).split('\n')) if (line !== '') lines.push(JSON.parse(line));
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(keep),
    vi.spyOn(process.stderr, 'write').mockImplementation(keep),
  ];
  return {
    lines,
    text: (): string => lines.map((line) => JSON.stringify(line)).join('\n'),
    restore(): void {
      for (const spy of spies) spy.mockRestore();
    },
  };
};
