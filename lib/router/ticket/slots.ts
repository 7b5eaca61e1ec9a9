/**
 * Who works: as many tickets at once as the policy says, and one more for a person's message (spec N7, N8). Pure. A place
 * belongs to a ticket for as long as its worker's turn lasts; nothing here runs out by time.
 */
export type SlotKind = 'ordinary' | 'human';

export interface Holder {
  readonly ticketId: string;
  readonly kind: SlotKind;
  /** Milliseconds since the epoch, here and below. */
  readonly since: number;
}

export interface Waiting {
  readonly ticketId: string;
  /** A person has spoken: it goes before those that only have work. */
  readonly human: boolean;
  readonly since: number;
}

export interface Slots {
  readonly version: number;
  readonly holders: readonly Holder[];
  /** In the order in which they come to their turn. */
  readonly queue: readonly Waiting[];
}

export const NO_SLOTS: Slots = { version: 0, holders: [], queue: [] };

/** Steps that a place for a person's message is lent for, where no reply ends it before. */
export const LENT_STEPS = 5;

/** A row holds 400 KB; more than these would not be looked after by anybody anyway. */
export const MOST_WAITING = 1_000;

const without = <T extends { readonly ticketId: string }>(rows: readonly T[], ticketId: string): readonly T[] =>
  rows.filter((row) => row.ticketId !== ticketId);

const ordinaryFree = ({ holders }: Slots, most: number): boolean =>
  holders.filter(({ kind }) => kind === 'ordinary').length < most;

const lentFree = ({ holders }: Slots): boolean => !holders.some(({ kind }) => kind === 'human');

/** Whether somebody waits who comes before this one. */
const isBehind = ({ queue }: Slots, ticketId: string, human: boolean): boolean =>
  queue.some((other) => other.ticketId !== ticketId && (other.human || !human));

export interface Taken {
  readonly slots: Slots;
  readonly kind: SlotKind;
}

/**
 * A place for a ticket that has none, if there is one: an ordinary one where nobody waits before it; for a person's message
 * the extra one, which new work never gets.
 */
export const take = (
  slots: Slots,
  { ticketId, human }: Pick<Waiting, 'ticketId' | 'human'>,
  most: number,
  now: number,
): Taken | undefined => {
  const kind: SlotKind | undefined =
    ordinaryFree(slots, most) && !isBehind(slots, ticketId, human)
      ? 'ordinary'
      : human && lentFree(slots)
        ? 'human'
        : undefined;
  return kind && hold(slots, ticketId, kind, now);
};

/** As it is: of a run that somebody's decision has set going already, above the limit if need be. */
export const hold = (slots: Slots, ticketId: string, kind: SlotKind, now: number): Taken => ({
  kind,
  slots: {
    ...slots,
    holders: [...without(slots.holders, ticketId), { ticketId, kind, since: now }],
    queue: without(slots.queue, ticketId),
  },
});

/** It neither works nor waits any more. */
export const leave = (slots: Slots, ticketId: string): Slots => ({
  ...slots,
  holders: without(slots.holders, ticketId),
  queue: without(slots.queue, ticketId),
});

export const isFull = ({ queue }: Slots): boolean => queue.length >= MOST_WAITING;

/** It waits for a place and holds none. Who waits already keeps its place in the queue, unless a person has spoken since. */
export const enqueue = (slots: Slots, ticketId: string, human: boolean, now: number): Slots => {
  const there = slots.queue.find((waiting) => waiting.ticketId === ticketId);
  const holders = without(slots.holders, ticketId);
  if (there !== undefined && (there.human || !human)) return { ...slots, holders };
  const queue = without(slots.queue, ticketId);
  const entry = { ticketId, human, since: now };
  const people = queue.filter((waiting) => waiting.human);
  const work = queue.filter((waiting) => !waiting.human);
  return { ...slots, holders, queue: human ? [...people, entry, ...work] : [...people, ...work, entry] };
};

/** Who comes to its turn now; `undefined` while no ordinary place is free or nobody waits. */
export const next = (slots: Slots, most: number): Waiting | undefined =>
  ordinaryFree(slots, most) ? slots.queue[0] : undefined;
