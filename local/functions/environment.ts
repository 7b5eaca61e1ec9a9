import { devNull } from 'node:os';
import { dirname } from 'node:path';
import type { LocalFunction } from '../template/assembly.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface EnvironmentOptions {
  readonly region: string;
  readonly gatewayUrl: string;
  /** Values that stand above the template's, for the variables the template gives the function. */
  readonly overrides: { readonly [name: string]: string };
  /** Folder where V8 keeps compiled bundles, so that the second start of a process is quicker. */
  readonly compileCacheDir: string;
}

/**
 * The whole environment of a function process: the template's variables and what Lambda itself sets. Nothing of the
 * local cloud's own environment comes through, above all no key of the operator and no AWS profile.
 */
export const functionEnvironment = (
  fn: LocalFunction,
  credentials: Credentials,
  options: EnvironmentOptions,
  runtimeApi: string,
): { [name: string]: string } => ({
  PATH: dirname(process.execPath),
  TZ: ':UTC',
  LANG: 'en_US.UTF-8',
  // Without it Windows starts no process that opens a socket.
  ...(process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot }),
  ...fn.environment,
  ...withoutSourceMaps(fn.environment),
  ...Object.fromEntries(Object.entries(options.overrides).filter(([name]) => name in fn.environment)),
  AWS_REGION: options.region,
  AWS_DEFAULT_REGION: options.region,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_ENDPOINT_URL: options.gatewayUrl,
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  AWS_LAMBDA_FUNCTION_NAME: fn.name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(fn.memoryMb),
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${fn.name}`,
  AWS_LAMBDA_LOG_STREAM_NAME: `local/[$LATEST]${Date.now().toString(36)}`,
  AWS_LAMBDA_RUNTIME_API: runtimeApi,
  LAMBDA_TASK_ROOT: fn.codeDir,
  _HANDLER: fn.handler,
  NODE_COMPILE_CACHE: options.compileCacheDir,
});

/** Source maps cost 17 MB and a quarter of the start in each process; many of them share this machine's memory. */
const withoutSourceMaps = ({ NODE_OPTIONS }: { readonly [name: string]: string }): { [name: string]: string } =>
  NODE_OPTIONS === undefined ? {} : { NODE_OPTIONS: NODE_OPTIONS.replace('--enable-source-maps', '').trim() };

/**
 * Heap flags like those of Lambda's runtime: nine tenths of the memory, and a twentieth for each half of the young
 * generation. With less of that a step, which reads and drops some megabytes, spends a third of its time collecting.
 */
export const memoryFlags = (memoryMb: number): readonly string[] => [
  `--max-old-space-size=${Math.floor(memoryMb * 0.9)}`,
  `--max-semi-space-size=${Math.max(1, Math.floor(memoryMb * 0.05))}`,
];
