/** Run over the source without a guard: looks where the lack must show. Exit 0 when it does. */

import { firstViolation } from './aimed.ts';
import { AIMS } from './aims.ts';

const guard = process.argv[2] ?? '';
const aim = AIMS[guard];
if (aim === undefined) throw new Error(`There is no aim for "${guard}".`);
// A row that the product itself would refuse to read ends the simulation: that is seen too.
const violation = await firstViolation(aim).catch((error: unknown) => `it ended with ${String(error)}`);
console.log(violation?.slice(0, 400) ?? 'nothing found');
process.exit(violation === undefined ? 1 : 0);
