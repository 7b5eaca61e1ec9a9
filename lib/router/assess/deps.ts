import type { StepDeps } from '../../execution/step/deps.ts';
import type { LeaseDeps } from '../../lease/lease.ts';
import type { ThreadDeps } from '../thread/deps.ts';

/** What an Eval needs beside the Thread: a model, and names nobody else has. */
export interface AssessDeps
  extends ThreadDeps,
    Pick<LeaseDeps, 'settings'>,
    Pick<StepDeps, 'models' | 'resolveModel' | 'newOwner'> {
  /** A word that no text on a page can know: it marks where untrusted text begins and ends. */
  readonly newMark: () => string;
}
