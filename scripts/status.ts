/**
 * How an organisation stands, one line for each check. The exit code is the worst of them: 0 well, 1 heals by itself, 2 a
 * person should look, 3 nothing can work, also when nothing answers.
 *
 *   npm run status [-- --local] [--json]         the local cloud that runs in BATON_HOME, or the one of BATON_URL
 *   npm run status -- --url URL [--json]         any other, with its key in BATON_API_KEY
 *
 * Without BATON_API_KEY the key is that of BATON_HOME, as in the README and the examples.
 */
import './node-version.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod';

const USAGE = 'Usage: npm run status -- [--local | --url URL] [--json]';
const BROKEN = 3;
const ANSWER_WITHIN_MS = 15_000;
const WORDS = ['well', 'heals by itself', 'a person should look', 'broken'] as const;

const code = z.int().min(0).max(BROKEN);
const reportSchema = z.object({
  code,
  checks: z.array(z.object({ name: z.string(), code, detail: z.string() })),
});
type Report = z.output<typeof reportSchema>;

/** Why there is no report; it is shown as one. */
const unreachable = (detail: string): Report => ({
  code: BROKEN,
  checks: [{ name: 'reachable', code: BROKEN, detail }],
});

const options = () => {
  try {
    const { values } = parseArgs({
      options: {
        local: { type: 'boolean', default: false },
        url: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    });
    const both = values.local && values.url !== undefined;
    return both ? { wrong: '--local and --url exclude each other.' } : { values };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : 'There is an unknown option.' };
  }
};

const readTrimmed = async (file: string): Promise<string | undefined> => {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text?.trim() || undefined;
};

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const localSchema = z.object({ url: z.string() });

const ask = async (url: string, key: string): Promise<Report> => {
  const address = `${url.replace(/\/+$/, '')}/v1/status`;
  let response: Response;
  try {
    response = await fetch(address, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
    return unreachable(`${address} does not answer: ${why}.`);
  }
  const text = await response.text();
  if (response.status === 401) return unreachable(`${address} does not accept the key (401).`);
  const report = reportSchema.safeParse(parsedJson(text));
  if (!response.ok || !report.success) {
    return unreachable(`${address} answered ${response.status} and no report: ${text.slice(0, 200)}`);
  }
  return report.data;
};

/** @param given by `--url`; `undefined` means BATON_URL, @param isLocal by `--local`, whatever BATON_URL says */
const statusOf = async (given: string | undefined, isLocal: boolean): Promise<Report> => {
  const home = process.env.BATON_HOME || '.baton';
  const url = given ?? (isLocal ? undefined : process.env.BATON_URL || undefined);
  const local =
    url === undefined
      ? localSchema.safeParse(parsedJson((await readTrimmed(join(home, 'local.json'))) ?? ''))
      : undefined;
  const address = url ?? local?.data?.url;
  if (address === undefined) {
    return unreachable(`No local cloud runs in ${home}. Start it with npm start, set BATON_HOME, or give --url.`);
  }
  if (!URL.canParse(address)) return unreachable(`${address} is no address.`);
  // A key of the home goes to the address that stands beside it in the environment, and to none of the command line.
  const key = process.env.BATON_API_KEY || (given === undefined ? await readTrimmed(join(home, 'api-key')) : undefined);
  if (key !== undefined) return ask(address, key);
  const or = given === undefined ? `, or BATON_HOME to a home that has one (${join(home, 'api-key')} does not)` : '';
  return unreachable(`There is no key: set BATON_API_KEY${or}.`);
};

const { values, wrong } = options();
if (values === undefined) {
  console.error(`${wrong}\n${USAGE}`);
  process.exitCode = BROKEN;
} else {
  const report = await statusOf(values.url, values.local);
  if (values.json) console.log(JSON.stringify(report));
  else {
    for (const check of report.checks) console.log(`${check.code} ${check.name.padEnd(10)} ${check.detail}`);
    console.log(`${report.code} (${WORDS[report.code]})`);
  }
  process.exitCode = report.code;
}
