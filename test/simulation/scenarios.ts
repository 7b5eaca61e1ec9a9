import type { Scenario } from './scenario.ts';
import { BUSY } from './sim-model.ts';

export type Base = Omit<Scenario, 'seed'>;

/** Three-step runs that meet every kind of port call. */
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
};
