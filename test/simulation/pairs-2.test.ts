import { pairs } from './pairs.suite.ts';

pairs(1);
