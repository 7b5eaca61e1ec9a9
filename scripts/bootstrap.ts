/**
 * Makes the first organisation and its owner key, through IAM: whoever may invoke the bootstrap function may do this.
 *
 *   npm run bootstrap -- --organisation NAME [--stage dev] [--json]     the deployed stack, with your own AWS credentials
 *   npm run bootstrap -- --organisation NAME --local [--json]           the local cloud that runs in BATON_HOME
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod';
import { makeApiKey } from '../lib/tenancy/api-key.ts';

const USAGE = 'Usage: npm run bootstrap -- --organisation NAME [--local] [--json] [--stage dev]';

/** A sentence for the person at the terminal; no stack is shown. */
class Told extends Error {}

const localSchema = z.object({
  url: z.string(),
  gatewayUrl: z.string(),
  region: z.string(),
  operator: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
  bootstrapFunction: z.string(),
});

const answerSchema = z.object({ organisationId: z.string(), apiKey: z.string() });
const failureSchema = z.object({ errorMessage: z.string() });

interface Target {
  readonly client: LambdaClient;
  readonly functionName: string;
  readonly whereItRuns: string;
}

const options = () => {
  try {
    const { values } = parseArgs({
      options: {
        organisation: { type: 'string' },
        stage: { type: 'string', default: 'dev' },
        local: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new Told(`${error instanceof Error ? error.message : 'Unknown option.'}\n${USAGE}`);
  }
};

const localTarget = async (): Promise<Target> => {
  const home = process.env.BATON_HOME ?? '.baton';
  const file = join(home, 'local.json');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    throw new Told(
      `No local cloud runs in ${home} (there is no ${file}). Start it with \`npm start\`, or set BATON_HOME.`,
    );
  }
  const parsed = localSchema.safeParse(parsedJson(text));
  if (!parsed.success) throw new Told(`${file} cannot be read. Start the local cloud anew with \`npm start\`.`);
  const { url, gatewayUrl, region, operator, bootstrapFunction } = parsed.data;
  return {
    client: new LambdaClient({ endpoint: gatewayUrl, region, credentials: operator, maxAttempts: 2 }),
    functionName: bootstrapFunction,
    whereItRuns: `the local cloud in ${home} (${url})`,
  };
};

const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const awsTarget = (stage: string): Target => ({
  client: new LambdaClient({}),
  functionName: `baton-${stage}-bootstrap`,
  whereItRuns: `AWS, stage ${stage}`,
});

/** What the SDK's errors mean here. */
const explained = (error: unknown, { functionName, whereItRuns }: Target): Told => {
  const { name, message, code } = error as {
    readonly name?: string;
    readonly message?: string;
    readonly code?: string;
  };
  if (code === 'ECONNREFUSED' || /ECONNREFUSED/.test(message ?? '')) {
    return new Told(`Nothing answers at ${whereItRuns}. Start the local cloud with \`npm start\`.`);
  }
  if (name === 'CredentialsProviderError') {
    return new Told('There are no AWS credentials: sign in first (`aws sso login`, AWS_PROFILE, …), or use --local.');
  }
  if (/Region is missing/.test(message ?? ''))
    return new Told('There is no AWS region: set AWS_REGION, or use --local.');
  if (name === 'ResourceNotFoundException') {
    return new Told(`There is no function ${functionName} on ${whereItRuns}. Deploy first, or name another --stage.`);
  }
  if (name === 'AccessDeniedException') {
    return new Told(`These credentials may not invoke ${functionName} on ${whereItRuns}: ${message}`);
  }
  return new Told(`${functionName} on ${whereItRuns} could not be invoked: ${name}: ${message}`);
};

const invoke = async (target: Target, payload: object): Promise<z.output<typeof answerSchema>> => {
  const command = new InvokeCommand({ FunctionName: target.functionName, Payload: JSON.stringify(payload) });
  const answer = await target.client.send(command).catch((error: unknown) => {
    throw explained(error, target);
  });
  const value = parsedJson(Buffer.from(answer.Payload ?? []).toString('utf8'));
  if (answer.FunctionError !== undefined) {
    const failure = failureSchema.safeParse(value);
    throw new Told(failure.success ? failure.data.errorMessage : `The function failed: ${answer.FunctionError}.`);
  }
  const parsed = answerSchema.safeParse(value);
  if (!parsed.success) throw new Told('The function answered something else than {organisationId, apiKey}.');
  return parsed.data;
};

const main = async (): Promise<void> => {
  const { organisation, stage, local, json } = options();
  if (organisation === undefined || organisation.trim() === '') throw new Told(`--organisation is missing.\n${USAGE}`);
  const target = local ? await localTarget() : awsTarget(stage);
  // The key is made here, so that a repeat after a lost answer finds the organisation it made before.
  const made = await invoke(target, { organisation, apiKey: makeApiKey() });
  if (json) {
    console.log(JSON.stringify(made));
    return;
  }
  console.log(`Organisation ${made.organisationId} on ${target.whereItRuns}.`);
  console.log(`Its owner key, shown this once: ${made.apiKey}`);
};

try {
  await main();
} catch (error) {
  if (!(error instanceof Told)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
