import { type Mutation, under } from '../../simulation/mutate.ts';

/** Guards of tickets and places, each with the edit that takes it out. Playing everything at once has to notice every one. */
export const MUTATIONS: readonly Mutation[] = under('lib/router/ticket', [
  {
    guard: 'a place is given back only while the run stands where it was read',
    file: 'settle.ts',
    find: '[...writes, places, runStands(execution)]',
    put: '[...writes, places]',
  },
  {
    guard: 'a message relies on the ticket, with its place, being as it was read',
    file: 'give.ts',
    find: 'message.wake ? [{ check: keys.ticket(orgId, id), if: asSeen(ticket) }] : [];',
    put: 'message.wake ? [] : [];',
  },
  {
    guard: 'places are given under the version that was read',
    file: 'rows.ts',
    find: "and(eq('v', ROW_VERSION), eq('version', before.version)),",
    put: "eq('v', ROW_VERSION),",
  },
  {
    guard: 'a ticket changes under the version that was read',
    file: 'rows.ts',
    find: "and(eq('v', ROW_VERSION), eq('version', version));",
    put: "eq('v', ROW_VERSION + 0 * version);",
  },
  {
    guard: 'only the last run speaks for its ticket',
    file: 'settle.ts',
    find: ' || ticket.executionIds.at(-1) !== executionId',
    put: '',
  },
  {
    guard: 'a message waits with its ticket until there is a place',
    file: 'give.ts',
    find: '{ hold: true }',
    put: '{}',
  },
  {
    guard: 'a stop ends the run in the transaction that revokes',
    file: 'stop.ts',
    find: 'if (execution === undefined || isTerminal(execution.status)) {',
    put: 'if (execution !== undefined) {',
  },
]);
