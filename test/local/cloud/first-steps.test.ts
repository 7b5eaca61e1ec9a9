import { expect, test } from 'vitest';
import { OUTPUTS } from '../../../lib/names.ts';
import { makeLocalOrganisation } from '../../../local/cloud/first-steps.ts';
import type { Functions } from '../../../local/functions/functions.ts';
import type { Assembly } from '../../../local/template/assembly.ts';

const assembly = { outputs: { [OUTPUTS.bootstrapFunction]: 'app-bootstrap' } } as unknown as Assembly;

/** Answers with these errors, one after the other, and then with success. */
const failing = (...types: readonly string[]) => {
  const asked: string[] = [];
  const invoke: Functions['invoke'] = async (name) => {
    const errorType = types[asked.push(name) - 1];
    return errorType === undefined
      ? { ok: true, payload: Buffer.from('{}') }
      : { ok: false, error: { errorType, errorMessage: 'It ended.' } };
  };
  return { asked, functions: { invoke } as unknown as Functions };
};

test('a bootstrap whose process is killed on the way is asked again', async () => {
  const { asked, functions } = failing('Runtime.ExitError', 'Runtime.ExitError');
  await makeLocalOrganisation(assembly, functions, 'k'.repeat(32));
  expect(asked).toHaveLength(3);
});

test('any other failure is told at once, with its own reason', async () => {
  const { asked, functions } = failing('AppError');
  await expect(makeLocalOrganisation(assembly, functions, 'k'.repeat(32))).rejects.toThrow(/AppError: It ended\./);
  expect(asked).toHaveLength(1);
});

test('one that is killed every time does not try for ever', async () => {
  const { asked, functions } = failing(...Array<string>(20).fill('Runtime.ExitError'));
  await expect(makeLocalOrganisation(assembly, functions, 'k'.repeat(32))).rejects.toThrow(/could not be made/);
  expect(asked).toHaveLength(8);
});
