import { testAims, testMutations } from '../simulation/guard-suite.ts';
import { AIMS, firstViolation } from './simulation/aims.ts';
import { MUTATIONS } from './simulation/mutations.ts';

testAims('the guards of schedules', AIMS, firstViolation);
testMutations('test/schedule/simulation/mutant.ts', MUTATIONS, Object.keys(AIMS));
