/** Parts of packages that no function uses and that every cold start would compile. What is left out is known by its file. */
import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

const inPackage = (name: string, file: string): boolean =>
  file.replaceAll('\\', '/').includes(`/node_modules/${name}/`);

/** What undici's entry loads beside the agent, the connector, `request` and `fetch`. */
const UNDICI_ENTRY = /^\.\/lib\/(mock|interceptor|cache|web\/(websocket|eventsource))\//;
const UNDICI_PROXIES = /^\.\/lib\/dispatcher\/((env-http-)?proxy-agent|socks5-proxy-agent|retry-agent|h2c-client)$/;
/** An experimental parser that is off, and the parser for processors without SIMD: every Lambda has it. */
const UNDICI_PARSERS = /\/(llhttp-wasm|milo\/(no-)?simd)\.js$/;

/** undici is one CommonJS entry that asks for all it has; a bundler cannot see that most of it is never touched. */
const undici: Plugin = {
  name: 'undici-without-idle-parts',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ importer, path }) => {
      if (!inPackage('undici', importer)) return undefined;
      const fromEntry = /[\\/]undici[\\/]index\.js$/.test(importer);
      const idle = (fromEntry && (UNDICI_ENTRY.test(path) || UNDICI_PROXIES.test(path))) || UNDICI_PARSERS.test(path);
      return idle ? { path, namespace: 'left-out' } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};' }));
  },
};

const OPENAI_RESOURCE = /[\\/]node_modules[\\/]openai[\\/]resources[\\/].*\.mjs$/;
/** Streams, and the loop that runs tools by itself: Chat Completions is asked for whole answers only. */
const OPENAI_RUNNER = /[\\/]node_modules[\\/]openai[\\/]lib[\\/]ChatCompletion(Stream|Runner|StreamingRunner)\.mjs$/;
const USED = /[\\/]resources[\\/]chat[\\/]/;

const exported = (source: string, kind: 'class' | 'function'): readonly string[] =>
  [...source.matchAll(new RegExp(`^export ${kind} (\\w+)`, 'gm'))].flatMap(([, name]) => name ?? []);

/**
 * The client of openai makes an object of every part of the API when it is made. Only Chat Completions is called here, so
 * the classes of the others stand there empty.
 */
const openai: Plugin = {
  name: 'openai-without-idle-parts',
  setup(build) {
    build.onLoad({ filter: OPENAI_RESOURCE }, ({ path }) => {
      if (USED.test(path)) return undefined;
      const classes = exported(readFileSync(path, 'utf8'), 'class');
      // A file that only passes others on stays as it is: what it names is found in them.
      return classes.length === 0
        ? undefined
        : { contents: classes.map((name) => `export class ${name} {}`).join('\n') };
    });
    build.onLoad({ filter: OPENAI_RUNNER }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const classes = exported(source, 'class').map((name) => `export class ${name} {}`);
      const functions = exported(source, 'function').map(
        (name) => `export function ${name}() { throw new Error('${name} is left out of this bundle.'); }`,
      );
      return { contents: [...classes, ...functions].join('\n') };
    });
  },
};

/** A Lambda has its credentials in the environment: what would fetch others, from files, SSO or web identities, is never asked. */
const credentials: Plugin = {
  name: 'credentials-without-idle-parts',
  setup(build) {
    build.onResolve({ filter: /^@aws-sdk\/nested-clients\// }, ({ path }) => ({ path, namespace: 'left-out' }));
  },
};

export const withoutIdleParts: readonly Plugin[] = [undici, openai, credentials];
