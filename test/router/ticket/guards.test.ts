import { testMutations } from '../../simulation/guard-suite.ts';
import { MUTATIONS } from './mutations.ts';

testMutations(
  'playing everything at once misses each guard that is taken out of the source',
  'test/router/ticket/mutant.ts',
  MUTATIONS,
);
