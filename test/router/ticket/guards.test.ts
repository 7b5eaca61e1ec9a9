import { testMutations } from '../../simulation/guard-suite.ts';
import { MUTATIONS } from './mutations.ts';

testMutations('test/router/ticket/mutant.ts', MUTATIONS);
