import { randomBytes } from 'node:crypto';
import { ENV } from '../names.ts';
import type { AssessDeps } from '../router/assess/deps.ts';
import { newMark } from '../router/untrusted/frame.ts';
import { numberEnv, once } from './core.ts';
import { modelClient, models } from './models.ts';
import { threadDeps } from './threads.ts';

const newWord = (): string => randomBytes(9).toString('base64url');

export const assessDeps = once(
  (): AssessDeps => ({
    ...threadDeps(),
    models: modelClient(),
    resolveModel: models(),
    settings: { leaseMs: numberEnv(ENV.leaseSeconds) * 1000 },
    newOwner: newWord,
    newMark: () => newMark(),
  }),
);
