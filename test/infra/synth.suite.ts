import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../cdk/bundle.ts';
import { FUNCTIONS } from '../../lib/names.ts';
import { projectAt } from './project.ts';
import { scratch } from './scratch.ts';
import { appIn } from './synthesized.ts';

describe('the app over bundled code', () => {
  it('synthesizes to the same template and the same assets twice', async () => {
    const root = projectAt(scratch());
    const read = async (folder: string) => {
      const { folders } = await bundle({ root, out: join(folder, 'code') });
      const assembly = appIn(folder, { code: folders }).synth();
      const [stack] = assembly.stacks;
      return {
        template: stack?.template,
        assets: readdirSync(assembly.directory).filter((name) => name.startsWith('asset.')),
      };
    };
    const first = await read(scratch());
    expect(first.assets).toHaveLength(FUNCTIONS.length);
    expect(await read(scratch())).toEqual(first);
  });
});
