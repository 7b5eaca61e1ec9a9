/** `npm start`: the local cloud until Ctrl-C. Its environment is described in the README and read in `settings.ts`. */
import '../scripts/node-version.ts';
import { join, relative, resolve } from 'node:path';
import { buildAssembly, cacheFolder } from './build/build.ts';
import { type Cloud, startCloud } from './cloud/cloud.ts';
import { openHome } from './home/home.ts';
import { tryLock } from './home/lock.ts';
import { type Front, startFront } from './http/front.ts';
import { REHEARSAL_MODEL, type RehearsalModel, startRehearsalModel } from './rehearsal/rehearsal.ts';
import { readSettings, type Settings } from './settings.ts';
import { StartError } from './start-error.ts';
import { findTemplate } from './template/read-assembly.ts';

/** A stop that takes longer than this is ended without further ado, milliseconds. */
const STOP_MS = 2000;
const ROOT = resolve(import.meta.dirname, '..');

/** Says in a sentence why there is no local cloud, and ends. */
const refuse = (sentence: string): never => {
  console.error(sentence);
  process.exit(1);
};

const listen = async (port: number): Promise<Front> => {
  try {
    return await startFront(port);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return refuse(`Port ${port} is taken by another program. Set PORT to a free one.`);
  }
};

const run = async (settings: Settings): Promise<void> => {
  const started = performance.now();
  const home = openHome(settings.home);
  const lock = tryLock(home.path('lock.sqlite'));
  if (lock === undefined) {
    const other = home.readLocalFile();
    const who = other === undefined ? '' : ` (process ${other.pid}, ${other.url})`;
    refuse(
      `A local cloud already runs on ${settings.home}${who}. Stop it, or give this one another BATON_HOME and PORT.`,
    );
  }
  const front = await listen(settings.port);
  let cloud: Cloud | undefined;
  let rehearsal: RehearsalModel | undefined;

  const stop = (): void => {
    setTimeout(() => process.exit(0), STOP_MS).unref();
    const closing = [front.close(), cloud?.close(), rehearsal?.close()];
    void Promise.allSettled(closing).then(() => {
      lock?.release();
      process.exit(0);
    });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);

  const apiKey = settings.apiKey ?? home.apiKey();
  const cacheDir = cacheFolder(ROOT, home.dir);
  const [assemblyDir, stand] = await Promise.all([
    buildAssembly({ root: ROOT, cacheDir, building: () => console.log('Building the functions and the template …') }),
    settings.model === undefined ? startRehearsalModel() : undefined,
  ]);
  rehearsal = stand;
  const model = settings.model ?? { baseUrl: rehearsal?.url ?? '', apiKey: 'rehearsal', model: REHEARSAL_MODEL };
  cloud = await startCloud({
    settings,
    home,
    front,
    templateFile: findTemplate(assemblyDir),
    compileCacheDir: join(cacheDir, 'v8'),
    apiKey,
    model,
    echo: (line) => console.error(line),
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    [
      `Baton's local cloud is up (${seconds} s).`,
      `  address  ${front.url}`,
      `  API key  ${apiKey}`,
      settings.model === undefined
        ? '  model    rehearsal: no real model, set OPENAI_API_KEY or OPENAI_BASE_URL for one'
        : `  model    ${model.model} at ${model.baseUrl}`,
      `  home     ${relative(process.cwd(), home.dir) || '.'} (logs of the functions in logs/)`,
      'Ctrl-C stops.',
    ].join('\n'),
  );
};

try {
  await run(readSettings(process.env));
} catch (error) {
  // A stack trace would bury the sentence; anything else is a fault of the local cloud and shown whole.
  if (error instanceof StartError) refuse(error.message);
  console.error(error);
  process.exit(1);
}
