/** The house as data: which room stands above which, and what may come in from outside. */

/**
 * Rooms of `lib/` from the ground up; a file may use rooms below its own and its own. Capabilities do I/O only through the
 * ports of the kernel.
 */
export const GROUND = ['names.ts', 'kernel'] as const;
export const CAPABILITIES = [
  'lease',
  'model',
  'tenancy',
  'agent',
  'workflow',
  'tools',
  'resource',
  'execution',
  'effect',
  'attention',
  'usage',
  'webhook',
  'schedule',
  'template',
  'superagi',
  'router',
  'channel',
  'watch',
] as const;
/** Behind the ports: each may use the ground and the files below, and none of the others. */
export const ADAPTERS = ['aws', 'openai', 'github', 'net', 'observe'] as const;
/** Files of capabilities that belong to a port which an adapter implements. */
export const PORT_FILES = [
  'lib/model/model.ts',
  // The estimate that stands in when a provider sends no usage.
  'lib/model/tokens.ts',
  'lib/tools/tool.ts',
  'lib/tools/egress-refused.ts',
  'lib/router/channel.ts',
] as const;

/** Single files of rooms that are else out of reach. */
export const BESIDES: { readonly [room: string]: readonly string[] } = {
  // The sentence that people on an old Node get, before anything else is loaded.
  local: ['scripts/node-version.ts'],
};

/** Packages by who may import them; `node:` modules by name. Rooms not listed may import none. */
export const PACKAGES: { readonly [room: string]: readonly RegExp[] } = {
  'lib/names.ts': [],
  'lib/kernel': [/^node:(crypto|timers\/promises|util)$/],
  'lib/aws': [/^@aws-sdk\//, /^@smithy\//, /^node:/],
  'lib/openai': [/^openai(\/|$)/, /^undici$/, /^zod$/, /^node:/],
  'lib/github': [/^@octokit\//],
  'lib/net': [/^undici$/, /^ipaddr\.js$/, /^node:/],
  'lib/observe': [/^@aws-lambda-powertools\//, /^node:/],
  'lib/middleware': [/^@middy\//, /^aws-lambda$/, /^zod$/, /^node:(crypto|util)$/],
  'lib/http': [/^@middy\//, /^aws-lambda$/, /^zod$/, /^node:(crypto|util|buffer|http)$/],
  'lib/compose': [/^node:/],
  // Time zones and cron, expressions of conditions: pure libraries.
  'lib/schedule': [/^zod$/, /^croner$/, /^luxon$/, /^node:crypto$/],
  'lib/workflow': [/^zod$/, /^@marcbachmann\/cel-js(\/|$)/],
  // A parser of Markdown: pure.
  'lib/router': [
    /^zod$/,
    /^node:(crypto|util|buffer)$/,
    /^mdast(-util-(from-markdown|gfm))?$/,
    /^micromark-extension-gfm$/,
  ],
  functions: [/^@middy\//, /^aws-lambda$/, /^zod$/],
  cdk: [/^aws-cdk-lib(\/|$)/, /^constructs$/, /^cdk-nag$/, /^esbuild$/, /^zod$/, /^node:/],
};
/** Capabilities: no AWS, no HTTP, no model client, no file system. */
export const CAPABILITY_PACKAGES = [/^zod$/, /^node:(crypto|util|path|path\/posix|buffer|zlib)$/];

export const MOST_LINES = { handler: 40, source: 300, test: 400 } as const;
