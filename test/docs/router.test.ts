import { describe, expect, test } from 'vitest';
import { VERBS } from '../../lib/router/mandate/mandate.ts';
import { speechOf } from '../../lib/router/outbox/speech.ts';
import { MODES, NEW_POLICY } from '../../lib/router/policy/policy.ts';
import { DECISIONS } from '../../lib/router/thread/trigger.ts';
import { standingOfReport } from '../../lib/router/ticket/phase.ts';
import { LENT_STEPS } from '../../lib/router/ticket/slots.ts';
import { PHASES, REPORTS } from '../../lib/router/ticket/ticket.ts';
import { read, tableBelow } from './markdown.ts';

const page = read('docs/router.md');
const rowsOf = (heading: string) => tableBelow(page, heading).map((row) => row.map((cell) => cell.replaceAll('`', '')));
const first = (heading: string): readonly (string | undefined)[] => rowsOf(heading).map(([cell]) => cell);

describe('docs/router.md', () => {
  test.each([
    ['### Modes', MODES],
    ['### Decisions', DECISIONS],
    ['### Mandates', VERBS],
    ['### Phases', PHASES],
    ['### Reports', REPORTS],
  ])('%s: the table is that of the code, in its order', (heading, words) => {
    expect(first(heading)).toEqual([...words]);
  });

  test('what follows a report is what the code makes of it', () => {
    const report = (state: (typeof REPORTS)[number], on?: 'person' | 'event') => ({
      report: { state, ...(on !== undefined && { on }), text: 'x', at: 0 },
    });
    for (const [state, phase = '', , said = ''] of rowsOf('### Reports')) {
      const known = REPORTS.find((one) => one === state) ?? 'progress';
      if (known === 'progress') {
        expect([phase, speechOf(known)]).toEqual(['working', 'note']);
      } else if (known === 'waiting') {
        expect(phase).toContain(`${standingOfReport(report(known, 'person')).phase} on a person`);
        expect(phase).toContain(`${standingOfReport(report(known, 'event')).phase} on an event`);
        expect([speechOf(known, 'person'), speechOf(known, 'event')]).toEqual(['post', 'note']);
      } else {
        expect(phase).toBe(standingOfReport(report(known)).phase);
        const words = { post: 'a comment of its own', review: 'a request for a review', note: 'the line' };
        expect(said).toContain(words[speechOf(known) as keyof typeof words]);
      }
    }
  });

  test('its numbers are those of the code', () => {
    expect(page).toContain('The breaker**: the eleventh reply within an hour');
    expect(NEW_POLICY.breaker.repliesPerThreadPerHour).toBe(10);
    expect(NEW_POLICY.mode).toBe('observe');
    expect(page).toContain('or for five steps');
    expect(LENT_STEPS).toBe(5);
  });
});
