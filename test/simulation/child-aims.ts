/** The guards of runs that start runs: where their lack has to show. */
import type { Aim } from './aims.ts';
import { acting, config, FAMILIES, runs } from './child-scenarios.ts';
import type { Base } from './scenarios.ts';

const family = (name: string): Base => {
  const found = FAMILIES[name];
  if (found === undefined) throw new Error(`There is no family "${name}".`);
  return found;
};

const TWO = family('two runs of one reply, beside other calls');
const BELOW = family('a run below a run');
/** A child that is alive long after its parent could have been terminated. */
const SLOW: Base = {
  script: [],
  config,
  answers: acting({ TOP: [runs(['SLOW'])], SLOW: [[['wait', { seconds: 7_200 }]], [['look', {}]]] }),
};

export const CHILD_AIMS: { readonly [guard: string]: Aim } = {
  "a parent does not sleep through its child's end": {
    base: TWO,
    at: ['slow', /^(query CHILD|transact|tool pay)$/],
    seeds: 10,
  },
  "a child's end is told and booked once": { base: TWO, at: ['crash_after', /^transact$/], seeds: 2 },
  'terminate knows of the children that a step starts': {
    base: SLOW,
    at: ['terminate', /^(get EXEC|query AGENT|transact)$/],
    seeds: 20,
  },
  'the end of a run ends those that it started': { base: SLOW, at: ['terminate', /^(get EXEC|transact)$/] },
  'what is set aside is not given a second time': {
    base: {
      ...TWO,
      answers: acting({ TOP: [runs(['ONE', 'TWO'], { maxCostUsd: 0.6 })], ONE: [[['look', {}]]], TWO: [] }),
    },
  },
  'the same call starts the same run': { base: TWO, at: ['crash_after', /^transact$/] },
  'a child is settled after those below it': {
    base: BELOW,
    at: ['terminate', /^(model|tool look|transact)$/],
    seeds: 3,
  },
  'a settlement that died before its message wakes the parent again': {
    base: { ...BELOW, expects: { maxMs: 90_000 } },
    at: ['throttle', /^send$/],
  },
};
