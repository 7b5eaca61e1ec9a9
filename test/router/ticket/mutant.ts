/** Run over the source without a guard: plays until its lack shows. */
import { tell } from '../../simulation/seek.ts';
import { play, SEEDS } from './play.ts';

await tell(async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const [found] = await play(seed);
    if (found !== undefined) return found;
  }
  return undefined;
});
