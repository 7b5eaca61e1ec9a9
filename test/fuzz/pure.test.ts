import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEffectPk } from '../../lib/effect/effect.ts';
import { askKey } from '../../lib/execution/decide.ts';
import { readExecution } from '../../lib/execution/execution.ts';
import {
  illegalMove,
  isTerminal,
  STATUSES,
  type Status,
  type StatusEvent,
  sourcesOf,
  TERMINAL,
  transition,
} from '../../lib/execution/status.ts';
import { limitReached } from '../../lib/execution/step/fuses.ts';
import { ID_PARAMS } from '../../lib/http/define-route.ts';
import { checkIds } from '../../lib/http/match.ts';
import { decodeCursor, encodeCursor } from '../../lib/http/paging.ts';
import { AppError } from '../../lib/kernel/errors.ts';
import { ID_PREFIXES, isId, makeIds } from '../../lib/kernel/ids.ts';
import { due, keys, owner, parseExecutionPk } from '../../lib/kernel/keys.ts';
import { executionRow } from './support/rows.ts';
import { always } from './support/runs.ts';

const EVENTS: readonly StatusEvent[] = [
  'start',
  'pause',
  'resume',
  'terminate',
  'complete',
  'ask_permission',
  'ask_input',
  'wait',
  'answer',
  'iteration_limit',
  'budget',
  'error',
  'fail',
];

describe('the table of moves', () => {
  const event = fc.constantFrom(...EVENTS);

  it('answers every pair with a state or a refusal that names both states', () => {
    for (const from of STATUSES) {
      for (const one of EVENTS) {
        const to = transition(from, one);
        expect(to === undefined || STATUSES.includes(to)).toBe(true);
        expect(sourcesOf(one).includes(from)).toBe(to !== undefined);
        if (to !== undefined) continue;
        const refusal = illegalMove(from, one);
        expect(refusal).toBeInstanceOf(AppError);
        if (refusal instanceof AppError) expect([refusal.status, refusal.details.from]).toEqual([409, from]);
      }
    }
  });

  it('absorbs in terminal states, and every live state can be terminated', () => {
    always(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        let state: Status = 'CREATED';
        for (const one of events) {
          const next = transition(state, one);
          if (isTerminal(state)) expect(next).toBeUndefined();
          else expect(transition(state, 'terminate')).toBe('TERMINATED');
          state = next ?? state;
        }
      }),
      300,
    );
    for (const state of TERMINAL) expect(EVENTS.map((one) => transition(state, one)).filter(Boolean)).toEqual([]);
  });
});

describe('limits', () => {
  const small = fc.nat(20);
  it('stop a run exactly when one of them is reached, and never once all are far away', () => {
    const limits = { mi: small, mt: fc.option(small, { nil: undefined }), mc: small, mx: small, ms: small };
    const used = { ca: small, ti: small, to: small, co: small, is: small, rm: fc.nat(20_000) };
    always(
      fc.property(fc.record(limits), fc.record(used), small, small, ({ mt, ...most }, spent, next, lost) => {
        const execution = readExecution({ ...executionRow, ...most, ...spent });
        const running = { ...execution, runningSince: undefined, maxTokens: mt };
        const stop = limitReached(running, { next, lost }, 0);
        const reached =
          spent.ca >= most.mi ||
          spent.is >= most.ms ||
          (mt !== undefined && spent.ti + spent.to >= mt) ||
          spent.co + next + lost > most.mc ||
          spent.rm > most.mx * 1_000;
        expect(stop !== undefined).toBe(reached);
        if (stop !== undefined) expect(transition('RUNNING', stop.event)).toBeDefined();
      }),
      500,
    );
  });
});

const makeId = (prefix: (typeof ID_PREFIXES)[number]) =>
  fc
    .tuple(fc.nat(2 ** 40), fc.uint8Array({ minLength: 10, maxLength: 10 }))
    .map(([at, noise]) => makeIds(() => noise).next(prefix, at));

/** What may stand behind an organisation in a key, in all the ways there are. */
const keysOf = (org: string, exe: string, agt: string, text: string, seq: number, n: number) => [
  keys.organisation(org),
  keys.project(org, text),
  keys.provider(org, text),
  keys.apiKey(org, text),
  keys.idempotency(org, text),
  keys.agent(org, agt),
  keys.agentConfig(org, agt, text),
  keys.agentExecution(org, agt, exe),
  keys.execution(org, exe),
  keys.pinned(org, exe),
  keys.feed(org, exe, seq, n),
  keys.started(org, exe, seq, n),
  keys.ask(org, exe, seq, n),
  keys.question(org, exe, seq, n),
  keys.input(org, exe, seq),
  keys.inputDedupe(org, exe, text),
  keys.file(org, exe, text),
  keys.effect(org, text),
  keys.attention(org, text),
];

describe('keys', () => {
  const odd = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('#', 'ORG#x', '#EXEC#', '\uffff', '..'));

  it('of different organisations never meet, whatever the rest of them is', () => {
    always(
      fc.property(
        makeId('org'),
        makeId('org'),
        makeId('exe'),
        makeId('agt'),
        odd,
        odd,
        fc.nat(999_999_999),
        fc.nat(9_999),
        (one, other, exe, agt, a, b, seq, n) => {
          fc.pre(one !== other);
          const mine = new Set(keysOf(one, exe, agt, a, seq, n).map(({ pk, sk }) => `${pk}\n${sk}`));
          expect(mine.size).toBe(19);
          for (const { pk, sk } of keysOf(other, exe, agt, b, seq, n)) expect(mine.has(`${pk}\n${sk}`)).toBe(false);
          for (const { pk } of keysOf(one, exe, agt, a, seq, n)) expect(`${pk}#`.startsWith(`ORG#${one}#`)).toBe(true);
          for (const pk of Object.values(owner).map((make) => make(one)))
            expect(pk.startsWith(`ORG#${one}#`)).toBe(true);
        },
      ),
      200,
    );
  });

  it('are read back as they were built', () => {
    always(
      fc.property(
        makeId('org'),
        makeId('exe'),
        makeId('eff'),
        fc.integer({ min: 1, max: 999_999_999 }),
        fc.nat(9_999),
        (orgId, executionId, effectId, seq, n) => {
          expect(parseExecutionPk(keys.execution(orgId, executionId).pk)).toEqual({ orgId, executionId });
          expect(parseEffectPk(keys.effect(orgId, effectId).pk)).toEqual({ orgId, effectId });
          expect(parseExecutionPk(keys.effect(orgId, effectId).pk)).toBeUndefined();
          expect(askKey(orgId, `ask_${executionId.slice(4)}_${seq}_${n}`)).toEqual({
            executionId,
            key: keys.ask(orgId, executionId, seq, n),
          });
        },
      ),
      200,
    );
  });

  it('of numbers sort as the numbers do', () => {
    const place = fc.tuple(fc.nat(999_999_999), fc.nat(9_999));
    always(
      fc.property(place, place, ([a, b], [c, d]) => {
        const text = keys.feed('o', 'e', a, b).sk < keys.feed('o', 'e', c, d).sk;
        expect(text).toBe(a < c || (a === c && b < d));
      }),
      300,
    );
  });

  it('of due times are read back, and sort by time', () => {
    const time = fc.nat(4_000_000_000_000);
    always(
      fc.property(time, time, makeId('exe'), (a, b, id) => {
        expect(due.at(due.sk(a, id))).toBe(a);
        if (a < b) expect(due.sk(a, id) < due.sk(b, id)).toBe(true);
        expect(due.sk(a, id) <= due.upTo(a)).toBe(true);
      }),
      200,
    );
  });
});

describe('ids', () => {
  it('with any other character are refused before they are part of a key', () => {
    const name = fc.constantFrom(...Object.keys(ID_PARAMS));
    const almost = fc
      .tuple(makeId('exe'), fc.nat(29), fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }))
      .map(([id, at, odd]) => id.slice(0, at) + odd + id.slice(at + 1));
    always(
      fc.property(name, fc.oneof(fc.string({ unit: 'binary' }), almost), (param, text) => {
        const { prefix } = ID_PARAMS[param] ?? { prefix: 'exe' as const };
        const fits = isId(prefix, text.slice(0, 30)) && (text.length === 30 || param === 'permissionId');
        try {
          checkIds({ [param]: text });
          expect(fits).toBe(true);
          expect(text).toMatch(/^[a-z0-9_]+$/);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          expect(error.status).toBe(404);
        }
      }),
      500,
    );
  });

  it('are well formed and sort by time', () => {
    always(
      fc.property(
        fc.constantFrom(...ID_PREFIXES),
        fc.nat(2 ** 45),
        fc.nat(2 ** 45),
        fc.uint8Array({ minLength: 10, maxLength: 10 }),
        (prefix, a, b, noise) => {
          const ids = makeIds(() => noise);
          expect(isId(prefix, ids.next(prefix, a))).toBe(true);
          if (a < b) expect(ids.next(prefix, a) < ids.next(prefix, b)).toBe(true);
        },
      ),
      200,
    );
  });
});

describe('cursors', () => {
  it('are read back by their own list only', () => {
    const word = fc.string({ unit: 'grapheme', maxLength: 30 });
    always(
      fc.property(word, word, word, word, word, (org, list, position, otherOrg, otherList) => {
        const cursor = encodeCursor(org, list, position);
        expect(decodeCursor(org, list, cursor)).toBe(position);
        if (otherOrg !== org) expect(() => decodeCursor(otherOrg, list, cursor)).toThrow(AppError);
        if (otherList !== list) expect(() => decodeCursor(org, otherList, cursor)).toThrow(AppError);
      }),
      200,
    );
  });

  it('that are none are refused, never anything else', () => {
    const junk = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc.constantFrom('bnVsbA', 'W10', Buffer.from('['.repeat(5_000)).toString('base64url')),
    );
    always(
      fc.property(junk, (text) => {
        expect(() => decodeCursor('org', 'list', text)).toThrow(AppError);
      }),
      300,
    );
  });
});
