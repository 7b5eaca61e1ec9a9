/** Run over the source without a guard: looks where the lack must show. Exit 0 when it does. */
import { AIMS, firstViolation } from './aims.ts';

const guard = process.argv[2] ?? '';
const aim = AIMS[guard];
if (aim === undefined) throw new Error(`There is no aim for "${guard}".`);
const violation = await firstViolation(aim);
console.log(violation?.slice(0, 400) ?? 'nothing found');
process.exit(violation === undefined ? 1 : 0);
