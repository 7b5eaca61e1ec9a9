import type { Scenario } from './scenario.ts';
import { BUSY } from './sim-model.ts';

export type Base = Omit<Scenario, 'seed'>;

/** Short runs that meet every kind of port call. */
export const BASES: { readonly [name: string]: Base } = {
  'calls of each effect': {
    script: [
      [['look', {}]],
      [
        ['post', {}],
        ['pay', {}],
      ],
      [['finish', { result: 'ok' }]],
    ],
  },
  'without a pause between steps': {
    stepDelaySeconds: 0,
    script: [
      [['pay', {}]],
      [
        ['post', {}],
        ['look', {}],
      ],
      [['finish', { result: 'ok' }]],
    ],
  },
  'a model that is busy twice': {
    troubles: [BUSY, { ...BUSY, code: 'model_unavailable' }],
    script: [[['look', {}]], [['pay', {}]], [['finish', { result: 'ok' }]]],
  },
  'a question': {
    script: [
      [
        ['look', {}],
        ['ask_user', { question: 'Which?' }],
      ],
      [['pay', {}]],
      [['finish', { result: 'ok' }]],
    ],
  },
  'two permissions in one reply': {
    decidedTwice: true,
    config: { permissionType: 'RESTRICTED' },
    script: [
      [
        ['post', {}],
        ['pay', {}],
      ],
      [['look', {}]],
      [['finish', { result: 'ok' }]],
    ],
  },
  'a window that overflows': {
    config: { contextTokens: 200 },
    script: [
      [['look', {}]],
      [['look', { what: 'x'.repeat(500) }]],
      [['pay', { what: 'y'.repeat(400) }]],
      [['finish', { result: 'ok' }]],
    ],
  },
  'more than a row holds': {
    script: [
      [
        ['look', { what: 'x'.repeat(9_000) }],
        ['post', { what: 'a lot' }],
      ],
      [['pay', { what: 'a lot' }]],
      [['finish', { result: 'y'.repeat(17_000) }]],
    ],
  },
  'a wait beside other calls': {
    script: [
      [
        ['wait', { seconds: 5 }],
        ['pay', {}],
      ],
      [['wait', { seconds: 300, wakeOnInput: false }]],
      [['finish', { result: 'ok' }]],
    ],
  },
  'a queue that gives up at once': {
    maxReceiveCount: 1,
    script: [
      [['look', {}]],
      [
        ['post', {}],
        ['pay', {}],
      ],
      [['finish', { result: 'ok' }]],
    ],
  },
};
