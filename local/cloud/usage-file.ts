import { readFileSync, writeFileSync } from 'node:fs';
import { mergeUsage, type UsageReport } from '../gateway/access/usage.ts';

/** Adds a run's report to the file in the home: which grants were never used shows only over many runs. */
export const keepUsage = (file: string, usage: UsageReport): void => {
  const before = earlier(file);
  writeFileSync(file, `${JSON.stringify(before === undefined ? usage : mergeUsage(before, usage), undefined, 2)}\n`);
};

const earlier = (file: string): UsageReport | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as UsageReport;
  } catch {
    return undefined; // none yet, or one that a crash cut short: counting starts anew
  }
};
