/** Run in a copy of the source that lacks a guard: plays until its lack shows. Exit 0 when it does. */
import { play, SEEDS } from './play.ts';

let found: string | undefined;
for (let seed = 1; seed <= SEEDS && found === undefined; seed++) {
  [found] = await play(seed).catch((error: unknown) => [`it ended with ${String(error)}`]);
}
console.log(found?.slice(0, 400) ?? 'nothing found');
process.exit(found === undefined ? 1 : 0);
