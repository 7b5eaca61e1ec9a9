import { expect, test } from 'vitest';
import { gather } from '../../lib/aws/gather.ts';
import { refusal } from '../support/refusal.ts';

/** Requests that are answered when the test says so. */
const requests = (most: number) => {
  const out: {
    readonly entries: readonly number[];
    readonly answer: PromiseWithResolvers<readonly (Error | undefined)[]>;
  }[] = [];
  const send = gather<number>(most, (entries) => {
    const answer = Promise.withResolvers<readonly (Error | undefined)[]>();
    out.push({ entries, answer });
    return answer.promise;
  });
  return { out, send, sent: () => out.map(({ entries }) => entries) };
};

const turn = () => new Promise((done) => setImmediate(done));

test('one alone goes at once; those who come while it is out go together behind it, as many as fit', async () => {
  const { out, send, sent } = requests(3);
  const all = [1, 2, 3, 4, 5].map(send);
  expect(sent()).toEqual([[1]]);
  out[0]?.answer.resolve([undefined]);
  await turn();
  expect(sent()).toEqual([[1], [2, 3, 4]]);
  out[1]?.answer.resolve([undefined, undefined, undefined]);
  await turn();
  expect(sent()).toEqual([[1], [2, 3, 4], [5]]);
  out[2]?.answer.resolve([undefined]);
  await Promise.all(all);
  const later = send(6);
  expect(sent()[3]).toEqual([6]);
  out[3]?.answer.resolve([undefined]);
  await later;
});

test('each hears of its own entry; a request that fails fails all of its entries, and no others', async () => {
  const { out, send } = requests(10);
  const [first, second, third] = [send(1), send(2), send(3)] as const;
  out[0]?.answer.reject(new Error('no connection'));
  expect(String(await refusal(first))).toContain('no connection');
  await turn();
  const fourth = send(4);
  out[1]?.answer.resolve([undefined, new Error('too big')]);
  await second;
  expect(String(await refusal(third))).toContain('too big');
  await turn();
  out[2]?.answer.resolve([undefined]);
  await fourth;
});
