/** Run over the source without a guard. */
import { firstViolation } from './aimed.ts';
import { AIMS } from './aims.ts';
import { seek } from './seek.ts';

await seek(AIMS, firstViolation);
