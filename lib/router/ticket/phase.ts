/** What a ticket's worker has come to, as the ticket's phase (spec §4.5, 4.6 and their join). Pure. */
import type { Execution } from '../../execution/execution.ts';
import type { Phase, Ticket } from './ticket.ts';

/** Where a ticket stands, and why. */
export interface Standing {
  readonly phase: Phase;
  readonly reason?: { readonly code: string; readonly message: string } | undefined;
  /** A person is needed, and is told so by the ticket. */
  readonly asks: boolean;
  /** It has come to its end; a person's message may revive it. */
  readonly ended: boolean;
}

type Reported = Pick<Ticket, 'report'>;

const standing = (phase: Phase, asks: boolean, reason?: Standing['reason'], ended = false): Standing => ({
  phase,
  asks,
  ended,
  ...(reason !== undefined && { reason }),
});

/** After a turn that its report ended. */
export const standingOfReport = ({ report }: Reported): Standing => {
  if (report === undefined) {
    return standing('blocked', true, { code: 'no_report', message: 'Its turn ended without a report.' });
  }
  const reason = { code: report.state, message: report.text };
  switch (report.state) {
    case 'waiting':
      return report.on === 'person' ? standing('person/answer', true, reason) : standing('idle', false, reason);
    case 'ready':
      return standing('person/review', true, reason);
    case 'blocked':
      return standing('blocked', true, reason);
    case 'failed':
      return standing('failed', true, reason, true);
    case 'dropped':
      return standing('closed', false, reason, true);
    case 'progress':
      return standing('idle', false, reason);
  }
};

/**
 * What a worker's status means for its ticket; `undefined` while it works.
 * @param ticket as it stood before
 */
export const standingOf = (execution: Execution, ticket: Reported): Standing | undefined => {
  const why = execution.errorMessage ?? execution.reason ?? execution.status;
  switch (execution.status) {
    case 'CREATED':
    case 'RUNNING':
    case 'WAIT_STEP':
      return undefined;
    case 'WAITING_FOR_INPUT':
      if (execution.parked === 'yield') return undefined;
      return execution.parked === 'over'
        ? standingOfReport(ticket)
        : standing('person/answer', false, { code: 'question', message: 'It has put a question.' });
    // The permission is an item of its own.
    case 'WAITING_FOR_PERMISSION':
      return standing('person/answer', false, { code: 'permission', message: 'A call needs to be allowed.' });
    case 'PAUSED':
      return standing('blocked', false, { code: 'paused', message: 'A person has paused its worker.' });
    case 'ERROR_PAUSED':
    case 'ITERATION_LIMIT_EXCEEDED':
    case 'BUDGET_EXCEEDED':
      return standing('blocked', true, { code: execution.reason ?? execution.status, message: why });
    // It has said its last word without a report: that is for a person to look at.
    case 'COMPLETED':
      return ticket.report !== undefined && ENDING.includes(ticket.report.state)
        ? standingOfReport(ticket)
        : standing('person/review', true, { code: 'finished', message: (execution.result ?? '').slice(0, 1_000) });
    case 'TERMINATED':
      return standing('closed', false, { code: 'terminated', message: 'A person has ended its worker.' }, true);
    case 'FAILED':
      return standing('failed', true, { code: execution.reason ?? 'failed', message: why }, true);
  }
};

const ENDING: readonly string[] = ['dropped', 'failed', 'blocked'];
