/** Decisions where messages come twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { finish } from './support/scripted-model.ts';
import { startWorld, type World } from './support/world.ts';

const RUNS = 12;

let world: World;
beforeAll(async () => {
  world = await startWorld({ BATON_CHAOS: 'duplicate=0.3,seed=4' });
});
afterAll(() => world?.close());

test('two approvals at once: one 200, one 409, and the tool runs once, however often messages come', async () => {
  const runs = await Promise.all(
    Array.from({ length: RUNS }, async (_, index) => {
      const model = `twice-${index}`;
      world.model.script(model, ({ n }) =>
        n === 1
          ? {
              calls: ['a', 'b'].map((call) => ({
                name: 'http_request',
                args: { method: 'POST', url: `${world.sink.url}/${index}/${call}`, body: '{}' },
              })),
            }
          : finish('done'),
      );
      const { id } = await world.cloud.run({ model, permissionType: 'RESTRICTED' });
      return { id, index };
    }),
  );
  const decide = (id: string) => world.cloud.call('POST', `/v1/permissions/${id}/decision`, { decision: 'approve' });
  await Promise.all(
    runs.map(async ({ id }) => {
      for (const call of ['a', 'b']) {
        await world.cloud.until(id, 'WAITING_FOR_PERMISSION', 30);
        const { items } = await world.cloud.must('GET', `/v1/permissions?status=pending&executionId=${id}`);
        expect(items).toMatchObject([{ arguments: { url: expect.stringMatching(new RegExp(`/${call}$`)) } }]);
        const ask = items[0]?.id ?? '';
        const answers = await Promise.all([decide(ask), decide(ask)]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      }
      await world.cloud.until(id, 'COMPLETED', 30);
    }),
  );
  expect(world.sink.got.map(({ path }) => path).sort()).toEqual(
    runs.flatMap(({ index }) => ['a', 'b'].map((call) => `/${index}/${call}`)).sort(),
  );
}, 120_000);
