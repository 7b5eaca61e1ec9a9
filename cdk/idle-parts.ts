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
const USED = /[\\/]resources[\\/]chat[\\/]/;

/**
 * The client of openai makes an object of every part of the API when it is made. Only Chat Completions is called here, so
 * the classes of the others stand there empty.
 */
const openai: Plugin = {
  name: 'openai-without-idle-parts',
  setup(build) {
    build.onLoad({ filter: OPENAI_RESOURCE }, ({ path }) => {
      if (USED.test(path)) return undefined;
      const classes = [...readFileSync(path, 'utf8').matchAll(/^export class (\w+)/gm)].map(([, name]) => name);
      // A file that only passes others on stays as it is: what it names is found in them.
      return classes.length === 0
        ? undefined
        : { contents: classes.map((name) => `export class ${name} {}`).join('\n') };
    });
  },
};

export const withoutIdleParts: readonly Plugin[] = [undici, openai];
