// What Lambda's own runtime does inside a function process: takes events from the Runtime API one by one and answers them.
// It speaks that protocol and nothing else, so that aws-lambda-ric could stand in its place. Plain JavaScript without a
// dependency, because it starts in every function process.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html

import { existsSync } from 'node:fs';
import http from 'node:http';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const env = process.env;
const [hostname, port] = env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const BASE = '/2018-06-01/runtime';
/** Id of the event that is being handled, for errors that nobody awaited. */
let current;

const call = (method, path, body, headers = {}) =>
  new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : Buffer.from(body);
    const request = http.request(
      {
        hostname,
        port,
        method,
        path: BASE + path,
        agent,
        headers: payload
          ? { 'content-type': 'application/json', 'content-length': payload.length, ...headers }
          : headers,
      },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode,
            headers: response.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(payload);
  });

const describe = (error) =>
  error instanceof Error
    ? { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') }
    : { errorType: typeof error, errorMessage: String(error), trace: [] };

const logError = (kind, error) =>
  console.error(JSON.stringify({ level: 'ERROR', message: kind, requestId: current, ...describe(error) }));

const post = (path, described) =>
  call('POST', path, JSON.stringify(described), { 'lambda-runtime-function-error-type': described.errorType });

/** Ends the process as Lambda does when something failed that no event handler caught. */
const die = async (errorType, error) => {
  logError(errorType, error);
  const described = { ...describe(error), errorType };
  try {
    if (current !== undefined) await post(`/invocation/${current}/error`, described);
    else await post('/init/error', described);
  } finally {
    process.exit(129);
  }
};

process.on('uncaughtException', (error) => die('Runtime.UncaughtException', error));
process.on('unhandledRejection', (error) => die('Runtime.UnhandledPromiseRejection', error));
// Ctrl-C reaches the whole process group; the local cloud decides when its functions end.
process.on('SIGINT', () => {});
// The pipe closes when the local cloud dies, however it dies.
process.stdin
  .on('end', () => process.exit(0))
  .on('error', () => process.exit(0))
  .resume();

const loadHandler = async () => {
  const [file, name] = [env._HANDLER.slice(0, env._HANDLER.lastIndexOf('.')), env._HANDLER.split('.').at(-1)];
  const path = ['.mjs', '.js', '.cjs']
    .map((ending) => join(env.LAMBDA_TASK_ROOT, file + ending))
    .find((one) => existsSync(one));
  if (path === undefined)
    throw Object.assign(new Error(`Cannot find module '${file}' in ${env.LAMBDA_TASK_ROOT}`), {
      name: 'Runtime.ImportModuleError',
    });
  const module = await import(pathToFileURL(path).href);
  const handler = module[name] ?? module.default?.[name];
  if (typeof handler !== 'function')
    throw Object.assign(new Error(`${env._HANDLER} is undefined or not exported`), { name: 'Runtime.HandlerNotFound' });
  if (handler.length > 2) {
    throw Object.assign(
      new Error('Node 24 on Lambda takes no callback handlers; export an async function (event, context).'),
      { name: 'Runtime.CallbackHandlerDeprecated' },
    );
  }
  return handler;
};

const contextOf = (headers) => {
  const deadline = Number(headers['lambda-runtime-deadline-ms']);
  return {
    awsRequestId: headers['lambda-runtime-aws-request-id'],
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    functionName: env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: env.AWS_LAMBDA_LOG_STREAM_NAME,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
};

let handler;
try {
  handler = await loadHandler();
} catch (error) {
  logError('init', error);
  await post('/init/error', describe(error));
  process.exit(1);
}

// Node writes its compile cache when a process exits by itself, and this one is killed.
flushCompileCache();

for (;;) {
  const next = await call('GET', '/invocation/next');
  const id = next.headers['lambda-runtime-aws-request-id'];
  // Without an id there is nobody to answer, and asking again at once would only spin.
  if (next.status !== 200 || !id) throw new Error(`The Runtime API answered ${next.status} and no event.`);
  current = encodeURIComponent(id);
  const traceId = next.headers['lambda-runtime-trace-id'];
  if (traceId) env._X_AMZN_TRACE_ID = traceId;
  else delete env._X_AMZN_TRACE_ID;
  try {
    const result = await handler(JSON.parse(next.body), contextOf(next.headers));
    await call('POST', `/invocation/${current}/response`, JSON.stringify(result) ?? 'null');
  } catch (error) {
    logError('invoke', error);
    await post(`/invocation/${current}/error`, describe(error));
  }
  current = undefined;
}
