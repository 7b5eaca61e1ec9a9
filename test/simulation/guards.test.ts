import { firstViolation } from './aimed.ts';
import { AIMS } from './aims.ts';
import { testAims, testMutations } from './guard-suite.ts';
import { MUTATIONS } from './mutations.ts';

testAims('the counterexamples of the step protocol', AIMS, firstViolation);
testMutations(
  'the simulation misses each guard that is taken out of the source',
  'test/simulation/mutant.ts',
  MUTATIONS,
  Object.keys(AIMS),
);
