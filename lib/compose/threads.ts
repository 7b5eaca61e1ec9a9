import type { ThreadDeps } from '../router/thread/deps.ts';
import { namesUs } from './channels.ts';
import { assess, clock, ids, log, once, table } from './core.ts';
import { desk } from './desk.ts';

export const threadDeps = once(
  (): ThreadDeps => ({ table: table(), clock, ids, log, assess: assess(), desk: desk(), names: namesUs }),
);
