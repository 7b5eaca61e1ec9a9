import { ENV, OUTPUTS } from '../../lib/names.ts';
import type { Functions } from '../functions/functions.ts';
import type { Services } from '../gateway/dispatch.ts';
import type { ModelAccount } from '../settings.ts';
import { StartError } from '../start-error.ts';
import type { Assembly } from '../template/assembly.ts';

/** Puts the operator's model account where the functions look for it. */
export const storeModelAccount = (assembly: Assembly, services: Services, account: ModelAccount): void => {
  const names = new Set(assembly.functions.flatMap(({ environment }) => environment[ENV.modelParameter] ?? []));
  for (const Name of names) {
    services.parameters.handle('PutParameter', {
      Name,
      Type: 'SecureString',
      Value: JSON.stringify(account),
      Overwrite: true,
    });
  }
};

/** @throws StartError when the template does not say which function makes organisations */
export const bootstrapFunctionOf = (assembly: Assembly): string => {
  const name = assembly.outputs[OUTPUTS.bootstrapFunction];
  if (name === undefined) throw new StartError(`The template has no output ${OUTPUTS.bootstrapFunction}.`);
  return name;
};

/** Under BATON_CHAOS the process may be killed; the function is idempotent for a given key, so it is asked again. */
const KILLED = 'Runtime.ExitError';
const ATTEMPTS = 8;

/** Makes the local organisation with this key, or finds it again. @throws StartError with the function's own reason */
export const makeLocalOrganisation = async (
  assembly: Assembly,
  functions: Functions,
  apiKey: string,
): Promise<void> => {
  const event = JSON.stringify({ organisation: 'Local', apiKey });
  for (let attempt = 1; ; attempt++) {
    const outcome = await functions.invoke(bootstrapFunctionOf(assembly), event);
    if (outcome.ok) return;
    const { errorType, errorMessage } = outcome.error;
    if (errorType !== KILLED || attempt === ATTEMPTS) {
      throw new StartError(`The local organisation could not be made (${errorType}: ${errorMessage}).`);
    }
  }
};
