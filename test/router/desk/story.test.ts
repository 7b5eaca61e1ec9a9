/** The whole story of a ticket, with every single call of it as the last one of its process. */
import { expect, it } from 'vitest';
import { play, stop, violationsAfterStop, violationsOf } from './story.ts';

it('an ask, a question, strangers, an answer, a second discussion, a review, a stop', async () => {
  const host = await play();
  expect(await violationsOf(host)).toEqual([]);
  const said = host.out.posts.length;
  await stop(host);
  expect(await violationsAfterStop(host, said)).toEqual([]);
  expect(host.shop.ports.calls()).toBeGreaterThan(200);
});

it.each(['before', 'after'] as const)(
  'every call may be the last of its process, %s it is made',
  async (when) => {
    const calls = (await play()).shop.ports.calls();
    const found: string[] = [];
    // Every third: between them they meet every kind of call.
    for (let at = 0; at < calls; at += 3) {
      try {
        const host = await play({ at, when });
        const violations = await violationsOf(host);
        const said = host.out.posts.length;
        await stop(host);
        violations.push(...(await violationsAfterStop(host, said)));
        found.push(...violations.map((violation) => `${when} call ${at}: ${violation}`));
      } catch (error) {
        found.push(`${when} call ${at}: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
    expect(found).toEqual([]);
  },
  120_000,
);
