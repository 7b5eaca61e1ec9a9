/** Run over the source without a guard: plays the corpus until something comes out. */
import { tell } from '../../simulation/seek.ts';
import { ATTACKS } from '../support/injections.ts';
import { firstBreach } from './corpus.ts';

await tell(() => firstBreach(ATTACKS));
