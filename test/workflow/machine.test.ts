import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { salesEngagement } from '../../lib/workflow/built-ins/sales-engagement.ts';
import {
  afterInner,
  afterOuter,
  begin,
  enter,
  formatPosition,
  inPhase,
  type Next,
  needsTask,
  PHASES,
  parsePosition,
  standingAt,
} from '../../lib/workflow/machine.ts';
import { problemsOf } from '../../lib/workflow/validate.ts';
import { always } from './always.ts';
import { everyKind, likelyGraph, parsed, withSteps } from './definitions.ts';

const every = parsed(everyKind());
const at = (next: Next): string => (next.to === 'nowhere' ? next.problem : next.position);

describe('a position', () => {
  it('comes back as it was written', () => {
    const id = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,39}$/);
    const place = fc.record(
      { workflow: id, step: id, inner: id, phase: fc.constantFrom(...PHASES) },
      { requiredKeys: ['workflow', 'step'] },
    );
    always(
      fc.property(place, (given) => {
        const text = formatPosition(given);
        expect(parsePosition(text)).toEqual(given);
        expect(text.length).toBeLessThanOrEqual(160);
      }),
    );
  });

  it.each(['', 'goal', 'goal/', '/think', 'a/b/c', 'a/b.', 'a/b:', 'a/b:none', 'a/b.c.d', 'A/b', 'a/b :ask'])(
    'is not %j',
    (text) => {
      expect(parsePosition(text)).toBeUndefined();
    },
  );

  it('is what running goals have always had', () => {
    expect(parsePosition('goal/think')).toEqual({ workflow: 'goal', step: 'think' });
  });

  it('changes its phase and nothing else', () => {
    expect(inPhase('w/s.i', 'repair')).toBe('w/s.i:repair');
    expect(inPhase('w/s:choose', 'choose-repair')).toBe('w/s:choose-repair');
    expect(inPhase('w/s:choose', undefined)).toBe('w/s');
  });

  it('stands for a step of its own workflow only', () => {
    expect(standingAt(every, 'every-kind/plan.more')?.inner?.output).toBe('tasks');
    expect(standingAt(every, 'every-kind/plan')?.inner?.output).toBe('tools');
    expect(standingAt(every, 'every-kind/ask:ask')?.step.kind).toBe('ASK_PERMISSION');
    for (const text of ['other/plan', 'every-kind/none', 'every-kind/constructor', 'every-kind/plan.constructor']) {
      expect(standingAt(every, text)).toBeUndefined();
    }
    expect(standingAt(every, 'every-kind/ask.do')).toBeUndefined();
  });
});

describe('a move', () => {
  it('begins with the first inner step of an iteration', () => {
    expect(at(begin(every))).toBe('every-kind/plan.do');
  });

  it('goes through an iteration and out by default while tasks are left', () => {
    expect(at(afterInner(every, 'every-kind/plan.do', false))).toBe('every-kind/plan.more');
    expect(at(afterInner(every, 'every-kind/plan.more:repair', false))).toBe('every-kind/plan.sort');
    expect(at(afterInner(every, 'every-kind/plan.sort', false))).toBe('every-kind/plan.do');
  });

  it('asks for new tasks even when none is left, and is complete when none came', () => {
    expect(at(afterInner(every, 'every-kind/plan.do', true))).toBe('every-kind/plan.more');
    expect(at(afterInner(every, 'every-kind/plan.sort', true))).toBe('every-kind/queue');
  });

  it('leaves an iteration where the next inner step would have no task', () => {
    const step = { kind: 'ITERATION', iteration: 'i', next: { default: 'step', COMPLETE: 'done' } };
    const steps = {
      sort: { prompt: 'x', output: 'replace-tasks', next: 'do' },
      do: { prompt: 'x', output: 'tools' },
    };
    const definition = withSteps({ step }, { i: { taskQueue: true, start: 'sort', steps } });
    expect(at(afterInner(definition, 'small/step.sort', true))).toBe('small/done');
    expect(at(afterInner(definition, 'small/step.sort', false))).toBe('small/step.do');
    expect(needsTask(definition, 'small/step.do')).toBe(true);
    expect(needsTask(definition, 'small/step.sort')).toBe(false);
    expect(needsTask(every, 'every-kind/look')).toBe(false);
  });

  it('without a queue never completes by itself', () => {
    const step = { kind: 'ITERATION', iteration: 'i', next: { default: 'step', COMPLETE: 'done' } };
    const iterations = { i: { start: 'do', steps: { do: { prompt: 'x', output: 'tools' } } } };
    const definition = withSteps({ step }, iterations);
    expect(at(afterInner(definition, 'small/step.do', true))).toBe('small/step.do');
    expect(at(afterOuter(definition, 'small/step.do', 'COMPLETE'))).toBe('small/done');
  });

  it('comes back to a queue for the next task, and begins anew when it was over', () => {
    expect(at(afterOuter(every, 'every-kind/ask:ask', 'No.', true))).toBe('every-kind/queue:next');
    expect(at(afterOuter(every, 'every-kind/ask:ask', 'NO'))).toBe('every-kind/queue');
    expect(at(enter(every, 'look', true))).toBe('every-kind/look');
  });

  it('ends at an END', () => {
    const ended = afterOuter(every, 'every-kind/queue:next', 'COMPLETE');
    expect(ended).toEqual({ to: 'end', position: 'every-kind/done', step: every.steps.done });
  });

  it('says where it cannot go', () => {
    expect(at(afterOuter(every, 'every-kind/look:choose', 'perhaps'))).toBe(
      'Step look has no edge for "perhaps" and no default. Labels: good, bad.',
    );
    expect(afterOuter(every, 'every-kind/none', 'YES').to).toBe('nowhere');
    expect(afterInner(every, 'every-kind/look', false).to).toBe('nowhere');
    expect(enter(every, 'constructor').to).toBe('nowhere');
  });
});

/** Every label that can come out of a step by the rules of the validator. */
const outcomes = (kind: string): readonly string[] => {
  if (kind === 'ITERATION' || kind === 'TASK_QUEUE') return ['default', 'COMPLETE'];
  if (kind === 'ASK_PERMISSION') return ['YES', 'NO'];
  return kind === 'CONDITION' ? ['YES', 'NO', 'one', 'two'] : ['default'];
};

describe('any run of an accepted definition', () => {
  it('always has a next step, and can end from wherever it is', () => {
    let walked = 0;
    always(
      fc.property(likelyGraph, fc.array(fc.nat(), { minLength: 40, maxLength: 40 }), (definition, chances) => {
        fc.pre(problemsOf(definition).length === 0);
        walked += 1;
        let next = begin(definition);
        for (const chance of chances) {
          expect(next.to, at(next)).not.toBe('nowhere');
          if (next.to !== 'step') return;
          expect(standingAt(definition, next.position)).toBeDefined();
          const { position, step } = next;
          const open = step.kind === 'CONDITION' && step.question !== undefined;
          const labels = open ? ['one', 'two'] : step.kind === 'CONDITION' ? ['YES', 'NO'] : outcomes(step.kind);
          const label = labels[chance % labels.length] ?? '';
          next =
            step.kind === 'ITERATION'
              ? afterInner(definition, position, chance % 2 === 0)
              : afterOuter(definition, position, label);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(walked).toBeGreaterThan(100);
  });
});

describe('sales engagement', () => {
  it('walks a lead through both answers', () => {
    const path: string[] = [];
    let position = 'sales-engagement/leads:next';
    for (const label of [
      'default',
      'default',
      'NO',
      'default',
      'YES',
      'default',
      'default',
      'default',
      'default',
      'default',
    ]) {
      const next = afterOuter(salesEngagement, position, label, true);
      position = at(next);
      path.push(parsePosition(position)?.step ?? position);
    }
    expect(path).toEqual([
      'research', 'approve', 'research', 'approve', 'look-closer', 'write', 'pause', 'look-for-answer', 'follow-up', 'leads',
    ]); // biome-ignore format: the way at a glance
    expect(position).toBe('sales-engagement/leads:next');
    expect(at(afterOuter(salesEngagement, position, 'COMPLETE'))).toBe('sales-engagement/done');
  });
});
