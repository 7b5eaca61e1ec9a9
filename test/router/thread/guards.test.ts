import { testAims, testMutations } from '../../simulation/guard-suite.ts';
import { AIMS, firstViolation } from './simulation/aims.ts';
import { MUTATIONS } from './simulation/mutations.ts';

testAims('the guards of Threads and Evals', AIMS, firstViolation);
testMutations(
  'the simulation misses each guard that is taken out of the source',
  'test/router/thread/simulation/mutant.ts',
  MUTATIONS,
  Object.keys(AIMS),
);
