import { runMutant } from '../../simulation/mutate.ts';
import type { Mutation } from './mutations.ts';

/**
 * Lets the simulation loose on the source without a guard.
 * @returns what the simulation saw; `undefined` when it saw nothing
 * @throws Error when the guard does not stand in the source exactly once
 */
export const hunt = ({ guard, file, find, put, also }: Mutation): Promise<string | undefined> => {
  const edits = [{ find, put }, ...(also === undefined ? [] : [also])];
  return runMutant(
    'test/schedule/simulation/mutant.ts',
    guard,
    edits.map((edit) => ({ file: `lib/schedule/${file}.ts`, ...edit })),
  );
};
