import type { FireDeps } from '../schedule/fire.ts';
import { fires, once } from './core.ts';
import { startDeps } from './executions.ts';

export const fireDeps = once((): FireDeps => ({ ...startDeps(), fires: fires() }));
