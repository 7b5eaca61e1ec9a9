import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Bundles, bundle } from '../../cdk/bundle.ts';
import { FUNCTIONS } from '../../lib/names.ts';
import { projectAt } from './project.ts';
import { runModule } from './run-module.ts';
import { scratch } from './scratch.ts';

const contents = (bundles: Bundles, name: (typeof FUNCTIONS)[number]) =>
  Object.fromEntries(
    readdirSync(bundles.folders[name])
      .toSorted()
      .map((file) => [file, readFileSync(join(bundles.folders[name], file), 'utf8')]),
  );

describe('bundling', () => {
  it('makes one folder a function with an ES module and its source map', async () => {
    const root = projectAt(scratch());
    const bundles = await bundle({ root, out: join(root, 'out') });
    for (const name of FUNCTIONS) {
      const files = contents(bundles, name);
      expect(Object.keys(files)).toEqual(['index.mjs', 'index.mjs.map']);
      expect(files['index.mjs']).toMatch(/\/\/# sourceMappingURL=index\.mjs\.map\s*$/);
    }
  });

  it('runs without require, CommonJS dependencies included, and keeps names', async () => {
    const root = projectAt(scratch());
    const { folders } = await bundle({ root, out: join(root, 'out') });
    expect(runModule(folders['dead-letter'], 'console.log(await handler());')).toBe('dead-letter functionNamedError\n');
  });

  it('makes the same bytes in another folder and holds no path of this machine', async () => {
    const [here, there] = [projectAt(scratch()), projectAt(join(scratch(), 'deeper', 'still'))];
    const first = await bundle({ root: here, out: join(here, 'out') });
    const second = await bundle({ root: there, out: join(scratch(), 'elsewhere') });
    for (const name of FUNCTIONS) {
      expect(contents(second, name)).toEqual(contents(first, name));
      expect(JSON.stringify(contents(first, name))).not.toContain(here);
      expect(JSON.parse(contents(first, name)['index.mjs.map'] ?? '').sources).toContain(
        `../../functions/${name}/handler.ts`,
      );
    }
  });

  it('leaves unchanged files alone and clears what an earlier build left', async () => {
    const root = projectAt(scratch());
    const options = { root, out: join(root, 'out') };
    const { folders } = await bundle(options);
    const written = statSync(join(folders.api, 'index.mjs')).mtimeMs;
    writeFileSync(join(folders.api, 'chunk-of-yesterday.mjs'), '');
    await bundle(options);
    expect(existsSync(join(folders.api, 'chunk-of-yesterday.mjs'))).toBe(false);
    expect(statSync(join(folders.api, 'index.mjs')).mtimeMs).toBe(written);
  });

  it('can run twice at once', async () => {
    const root = projectAt(scratch());
    const options = { root, out: join(root, 'out') };
    const [first, second] = await Promise.all([bundle(options), bundle(options)]);
    expect(contents(first, 'step')).toEqual(contents(second, 'step'));
  });

  it('names the handlers that are missing', async () => {
    const root = projectAt(scratch(), ['tick', 'dead-letter']);
    await expect(bundle({ root, out: join(root, 'out') })).rejects.toThrow(
      /functions\/tick\/handler\.ts, functions\/dead-letter\/handler\.ts/,
    );
  });

  it('says where the code is wrong', async () => {
    const root = projectAt(scratch());
    writeFileSync(
      join(root, 'functions/api/handler.ts'),
      "import { nothing } from './not-there.ts';\nexport const handler = nothing;\n",
    );
    await expect(bundle({ root, out: join(root, 'out') })).rejects.toThrow(
      /functions\/api\/handler\.ts:1[\s\S]*not-there/,
    );
  });
});
