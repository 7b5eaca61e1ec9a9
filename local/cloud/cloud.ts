import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBus } from '../events/bus.ts';
import { startEventSources } from '../functions/event-source.ts';
import { startFunctions } from '../functions/functions.ts';
import { mayInvoke } from '../functions/permission.ts';
import type { Stands } from '../gateway/access/access.ts';
import { startGateway } from '../gateway/gateway.ts';
import { openTrace } from '../gateway/trace.ts';
import type { Home } from '../home/home.ts';
import type { Front } from '../http/front.ts';
import { LOCAL } from '../names.ts';
import type { ModelAccount, Settings } from '../settings.ts';
import { readAssembly } from '../template/read-assembly.ts';
import { bootstrapFunctionOf, makeLocalOrganisation, storeModelAccount } from './first-steps.ts';
import { makePrincipals } from './principals.ts';
import { openServices } from './services.ts';
import { keepUsage } from './usage-file.ts';

export interface CloudOptions {
  readonly settings: Settings;
  readonly home: Home;
  readonly front: Front;
  readonly templateFile: string;
  /** Folder for what V8 compiled. */
  readonly compileCacheDir: string;
  readonly apiKey: string;
  readonly model: ModelAccount;
  /** Without it all grants of the template stand. */
  readonly stands?: Stands;
  /** One line for the terminal when something goes wrong. */
  echo(line: string): void;
}

export interface Cloud {
  close(): Promise<void>;
}

/** Brings up everything behind the front, and opens it once all of it answers. */
export const startCloud = async (options: CloudOptions): Promise<Cloud> => {
  // What is open so far, closed in the opposite order, also when something further on cannot come up.
  const opened: (() => void | Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (let last = opened.pop(); last !== undefined; last = opened.pop()) await last();
  };
  try {
    await bringUp(options, opened);
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
};

const bringUp = async (options: CloudOptions, opened: (() => void | Promise<void>)[]): Promise<void> => {
  const { settings, home, front, echo } = options;
  // Queue URLs carry the gateway's port, and the gateway judges by the template that has them: so the port comes first.
  const port = await freePort();
  const gatewayUrl = `http://127.0.0.1:${port}`;
  const assembly = readAssembly(options.templateFile, { ...LOCAL, gatewayUrl, apiUrl: front.url });
  const principals = makePrincipals(assembly.roles);

  const open = await openServices(home, assembly, {
    gatewayUrl: () => gatewayUrl,
    functions: () => functions,
    onEvent: (busName, event) => bus.onEvent(busName, event),
  });
  opened.push(open.close);
  const trace = settings.trace === undefined ? undefined : openTrace(settings.trace);
  if (trace !== undefined) opened.push(trace.close);
  const gateway = await startGateway({
    port,
    assembly,
    services: open.services,
    principals: principals.all,
    chaos: settings.chaos,
    killCaller: (principal) => functions.killProcessOf(principal),
    stands: options.stands,
    trace,
    log: echo,
  });
  opened.push(gateway.close, () => keepUsage(home.path('usage.json'), gateway.usage()));
  const functions = startFunctions({
    assembly,
    home: home.dir,
    region: LOCAL.region,
    gatewayUrl,
    overrides: settings.overrides,
    compileCacheDir: options.compileCacheDir,
    credentialsOf: principals.ofRole,
    echo,
  });
  opened.push(functions.close);
  const bus = createBus({
    assembly,
    region: LOCAL.region,
    account: LOCAL.account,
    invokeAsync: functions.invokeAsync,
    mayInvoke: (functionArn, ruleArn) => mayInvoke(assembly, functionArn, 'events.amazonaws.com', ruleArn),
    echo,
  });
  const bootstrapFunction = bootstrapFunctionOf(assembly);
  storeModelAccount(assembly, open.services, options.model);

  const backend = {
    routes: assembly.routes,
    invoke: functions.invoke,
    mayInvoke: (functionArn: string, sourceArn: string) =>
      mayInvoke(assembly, functionArn, 'apigateway.amazonaws.com', sourceArn),
    fireRule: bus.fire,
    ruleNames: bus.ruleNames,
  };
  await Promise.all([makeLocalOrganisation(assembly, functions, options.apiKey), front.probe(backend, '/health')]);
  const sources = startEventSources({
    assembly,
    functions,
    region: LOCAL.region,
    gatewayUrl,
    credentialsOf: principals.ofRole,
    chaos: settings.chaos,
    echo,
  });
  opened.push(sources.close);
  const { accessKeyId, secretAccessKey } = principals.operator;
  home.writeLocalFile({
    pid: process.pid,
    url: front.url,
    gatewayUrl,
    region: LOCAL.region,
    operator: { accessKeyId, secretAccessKey },
    bootstrapFunction,
  });
  opened.push(home.removeLocalFile);
  front.open(backend);
  bus.start();
  opened.push(bus.close);
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
