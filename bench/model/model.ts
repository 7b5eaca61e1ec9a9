import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ModelCall } from './script.ts';

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url));

export interface ScriptedModel {
  /** Base URL of the API. */
  readonly url: string;
  /** Every call so far, oldest first. */
  calls(run?: string): Promise<readonly ModelCall[]>;
  close(): void;
}

export const startModel = async (): Promise<ScriptedModel> => {
  const child = fork(SERVER, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(Number(message)));
    child.once('error', reject).once('exit', (code) => reject(new Error(`The model server ended with ${code}.`)));
  });
  const host = `http://127.0.0.1:${port}`;
  return {
    url: `${host}/v1`,
    async calls(run) {
      const response = await fetch(`${host}/calls${run === undefined ? '' : `?run=${encodeURIComponent(run)}`}`);
      return (await response.json()) as ModelCall[];
    },
    close: () => void child.kill(),
  };
};
