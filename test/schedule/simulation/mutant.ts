/** Run over the source without a guard. */
import { seek } from '../../simulation/seek.ts';
import { AIMS, firstViolation } from './aims.ts';

await seek(AIMS, firstViolation);
