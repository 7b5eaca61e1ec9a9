/** The app without the bundling, so that tests synthesize the very same thing. */
import { App } from 'aws-cdk-lib';
import { CURRENTLY_RECOMMENDED_FLAGS } from 'aws-cdk-lib/cx-api';
import type { Bundles } from './bundle.ts';
import { stageConfig } from './config.ts';
import type { GRANTS } from './grants.ts';
import { checkWithNag } from './nag.ts';
import { BatonStack } from './stack.ts';

/**
 * Set here and not in `cdk.json`, so that the template is the same under the command line, under plain `node cdk/app.ts`
 * (the local cloud) and in tests. The recommended flags move with the pinned version of aws-cdk-lib.
 */
const CONTEXT = {
  ...CURRENTLY_RECOMMENDED_FLAGS,
  // The local cloud finds a function's code by `aws:asset:path` in its metadata.
  'aws:cdk:enable-asset-metadata': true,
  'aws:cdk:enable-path-metadata': true,
};

export interface AppOptions {
  /** Folder of each function's code. */
  readonly code: Bundles['folders'];
  readonly outdir: string;
  /** Context as `-c name=value` gives it; the command line's own stands above it. */
  readonly context?: { readonly [key: string]: unknown };
  readonly grants?: typeof GRANTS;
}

/** @throws Error when the stage configuration is not valid; `synth()` of the result throws on cdk-nag findings */
export function createApp({ code, outdir, context, grants }: AppOptions): App {
  const app = new App({
    outdir,
    context: { ...CONTEXT, ...context },
    analyticsReporting: false,
    // Traces hold paths of the machine that synthesized.
    stackTraces: false,
  });
  checkWithNag(app);
  const config = stageConfig(app.node);
  new BatonStack(app, `baton-${config.stage}`, {
    config,
    code,
    description: 'Baton: autonomous agents without a server',
    ...(config.region === undefined ? {} : { env: { region: config.region } }),
    ...(grants === undefined ? {} : { grants }),
  });
  return app;
}
