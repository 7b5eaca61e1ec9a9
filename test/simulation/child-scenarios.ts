import type { Scenario } from './scenario.ts';
import type { Base } from './scenarios.ts';
import type { SimAnswer } from './sim-model.ts';

type Step = NonNullable<SimAnswer['calls']>;

const TOOLS = ['look', 'post', 'pay', 'wait', 'run_agent'];

/** What each run does, by the word in its goal: its steps, then the end. */
export const acting =
  (plays: { readonly [word: string]: readonly Step[] }): NonNullable<Scenario['answers']> =>
  ({ messages }) => {
    const goal = String(messages[0]?.content);
    const word = Object.keys(plays).find((each) => goal.includes(each)) ?? '';
    const said = messages.filter(({ role }) => role === 'assistant').length;
    return { calls: plays[word]?.[said] ?? [['finish', { result: `${word} is done` }]] };
  };

export const runs = (goals: readonly string[], more: object = {}): Step =>
  goals.map((goal) => ['run_agent', { goal, ...more }] as const);

/** Micro-dollars: a call costs 120 at most 105,000 by the window, so that a run of a few calls fits and no more. */
export const config = { goals: ['TOP'], tools: TOOLS, maxCostUsd: 1, contextTokens: 24_000 };

export const FAMILIES: { readonly [name: string]: Base } = {
  'two runs of one reply, beside other calls': {
    script: [],
    config,
    answers: acting({ TOP: [[...runs(['ONE', 'TWO']), ['pay', {}]], [['look', {}]]], ONE: [[['pay', {}]]], TWO: [] }),
  },
  'a run below a run': {
    script: [],
    config,
    answers: acting({ TOP: [runs(['MIDDLE'])], MIDDLE: [runs(['BOTTOM'])], BOTTOM: [[['look', {}]]] }),
  },
};
