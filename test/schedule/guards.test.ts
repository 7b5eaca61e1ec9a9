import { testAims, testMutations } from '../simulation/guard-suite.ts';
import { AIMS, firstViolation } from './simulation/aims.ts';
import { MUTATIONS } from './simulation/mutations.ts';

testAims('the guards of schedules', AIMS, firstViolation);
testMutations(
  'the simulation misses each guard that is taken out of the source',
  'test/schedule/simulation/mutant.ts',
  MUTATIONS,
  Object.keys(AIMS),
);
