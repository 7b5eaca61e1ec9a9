import * as z from 'zod';
import { UnreadableRow } from '../kernel/errors.ts';
import { keys } from '../kernel/keys.ts';
import { ConditionFailed, eq, type Item, type Table, type Value } from '../kernel/table.ts';
import { type Mark, stallMark, waitMark } from './timing.ts';

const GATE_VERSION = 1;

/**
 * Attempts at one endpoint at once: a receiver that hangs holds so many workers and no more. One whose last answer was good
 * has more of them; five workers are the usual number, so that even then one is left to the others.
 */
const PLACES = 2;
const PLACES_OF_WELL = 4;
/** The longest that a worker lives; a place whose holder died is free after it. */
export const PLACE_MS = 60_000;
/** The gate opens after so many failures in a row, and not before they have lasted so long. */
const FAILURES_TO_OPEN = 10;
const FAILING_MS = 60_000;
const FIRST_PROBE_MS = 15_000;
const LONGEST_PROBE_MS = 3_600_000;
/** Nothing but failures for so long: the endpoint is disabled. */
const FAILING_TO_DISABLE_MS = 5 * 86_400_000;

const gateSchema = z.object({
  v: z.literal(GATE_VERSION),
  orgId: z.string(),
  webhookId: z.string(),
  /** Rises with every write: whoever writes has judged what stands. */
  rev: z.number(),
  /** In a row. */
  failures: z.number(),
  /** Its last answer was good. */
  well: z.boolean().optional(),
  /** When the row of failures began, ms. */
  since: z.number().optional(),
  /** Nothing is sent but one probe at a time. */
  open: z.boolean(),
  probes: z.number(),
  probeAt: z.number().optional(),
  /** What the gate held back is let go: the revision that began it. */
  releasing: z.number().optional(),
  places: z.array(z.object({ deliveryId: z.string(), until: z.number() })),
  duePk: z.string().optional(),
  dueSk: z.string().optional(),
});
export type Gate = z.infer<typeof gateSchema>;

/** @throws UnreadableRow */
export const readGate = (item: Item): Gate => {
  const parsed = gateSchema.safeParse(item);
  if (!parsed.success) throw new UnreadableRow(item, z.prettifyError(parsed.error));
  return parsed.data;
};

export const gateItem = (gate: Gate): Item => {
  const present = Object.entries(gate as { readonly [name: string]: Value | undefined }).filter(
    (entry): entry is [string, Value] => entry[1] !== undefined,
  );
  return { ...Object.fromEntries(present), ...keys.webhookGate(gate.orgId, gate.webhookId) };
};

export const newGate = (orgId: string, webhookId: string): Gate => ({
  v: GATE_VERSION,
  orgId,
  webhookId,
  rev: 0,
  failures: 0,
  open: false,
  probes: 0,
  places: [],
});

/** Without its mark; a change that needs one sets it. */
const unmarked = ({ duePk: _, dueSk: __, ...gate }: Gate): Gate => gate;
const marked = (gate: Gate, mark: Mark): Gate => ({ ...gate, ...mark });

const livePlaces = (gate: Gate, now: number) => gate.places.filter(({ until }) => until > now);

export type Entry =
  | { readonly kind: 'enter'; readonly gate: Gate; readonly until: number }
  /** Somebody is at this very delivery. */
  | { readonly kind: 'twice' }
  /** All places are taken. `well`: those in them will be out soon. */
  | { readonly kind: 'busy'; readonly well: boolean }
  /** The gate is open and no probe is due. */
  | { readonly kind: 'shut' };

/** May this delivery be attempted now? */
export const enter = (gate: Gate, deliveryId: string, now: number): Entry => {
  const live = livePlaces(gate, now);
  if (live.some((place) => place.deliveryId === deliveryId)) return { kind: 'twice' };
  if (gate.open && ((gate.probeAt ?? 0) > now || live.length > 0)) return { kind: 'shut' };
  const well = gate.well === true;
  if (live.length >= (well ? PLACES_OF_WELL : PLACES)) return { kind: 'busy', well };
  const until = now + PLACE_MS;
  return { kind: 'enter', gate: { ...gate, places: [...live, { deliveryId, until }] }, until };
};

const withoutPlace = (gate: Gate, deliveryId: string, until: number) =>
  gate.places.filter((place) => place.deliveryId !== deliveryId || place.until !== until);

/** The gate after a good answer: closed, and what it held back is let go. */
export const afterSuccess = (gate: Gate, deliveryId: string, until: number, now: number): Gate => {
  const places = withoutPlace(gate, deliveryId, until);
  const next = { ...without(gate), places, well: true };
  return gate.open ? letGo(next, now) : next;
};

const without = ({ since: _, probeAt: __, ...gate }: Gate): Gate => ({ ...gate, failures: 0, probes: 0, open: false });

/** Closes it, whatever it has seen. */
export const letGo = (gate: Gate, now: number): Gate =>
  marked({ ...without(gate), releasing: gate.rev + 1 }, stallMark(gate.webhookId, now));

/** Everything that was held back when `releasing` began has been let go. */
export const allReleased = (gate: Gate, releasing: number): Gate => {
  if (gate.releasing !== releasing || gate.open) return gate;
  const { releasing: _, ...rest } = unmarked(gate);
  return rest;
};

/** The gate after a failure; with enough of them it opens, or waits longer for its next probe. */
export const afterFailure = (gate: Gate, deliveryId: string, until: number, now: number, random: number): Gate => {
  const places = withoutPlace(gate, deliveryId, until);
  const since = gate.since ?? now;
  const { well: _, ...unwell } = gate;
  const failed: Gate = { ...unwell, places, failures: gate.failures + 1, since };
  if (!gate.open && (failed.failures < FAILURES_TO_OPEN || now - since < FAILING_MS)) return failed;
  const probes = gate.open ? gate.probes + 1 : 1;
  // Half of it for certain, so that a dead endpoint is left alone; the rest at random.
  const wait = Math.min(LONGEST_PROBE_MS, FIRST_PROBE_MS * 2 ** (probes - 1)) * (0.5 + random / 2);
  const probeAt = now + Math.round(wait);
  const { releasing: __, ...rest } = failed;
  return marked({ ...rest, open: true, probes, probeAt }, waitMark(gate.webhookId, probeAt, now));
};

/** A closed gate that holds nothing back needs no mark. */
export const atRest = (gate: Gate): Gate =>
  !gate.open && gate.releasing === undefined && gate.duePk !== undefined ? unmarked(gate) : gate;

const IDLE_MS = 3_600_000;

/**
 * An open gate behind which nothing was found: whatever comes next is the probe. It is still looked at now and then, for a
 * delivery may have been held back just after the look.
 */
export const idle = (gate: Gate, now: number): Gate =>
  gate.open ? marked(gate, waitMark(gate.webhookId, now + IDLE_MS, now)) : gate;

/** True when an endpoint has done nothing but fail for so long that nobody can mean it to go on. */
export const isHopeless = (gate: Gate, now: number): boolean =>
  gate.open && gate.since !== undefined && now - gate.since >= FAILING_TO_DISABLE_MS;

/** Each try is another worker's write between ours. */
const MOST_TRIES = 20;

/**
 * Changes the gate: judge, write if nobody wrote meanwhile, else judge what stands.
 * @param judge the gate as it shall be; the same object for "as it is"
 * @returns the gate as it then is; `undefined` when there is none, because its endpoint was deleted
 */
export const changeGate = async (table: Table, seen: Gate, judge: (gate: Gate) => Gate): Promise<Gate | undefined> => {
  let gate = seen;
  for (let tries = 1; ; tries++) {
    const judged = judge(gate);
    if (judged === gate) return gate;
    const next = { ...judged, rev: gate.rev + 1 };
    try {
      await table.put(gateItem(next), eq('rev', gate.rev));
      return next;
    } catch (error) {
      if (!(error instanceof ConditionFailed) || tries === MOST_TRIES) throw error;
      if (error.item === undefined) return undefined;
      gate = readGate(error.item);
    }
  }
};

export type Entered =
  | { readonly kind: 'in'; readonly gate: Gate; readonly until: number }
  | Exclude<Entry, { readonly kind: 'enter' }>
  | { readonly kind: 'deleted' };

/** Takes a place for a delivery, if the gate lets it in. @param probeOnly where it may go through an open gate only */
export const goIn = async (
  table: Table,
  seen: Gate,
  deliveryId: string,
  now: number,
  probeOnly = false,
): Promise<Entered> => {
  const last: { entry: Entry } = { entry: { kind: 'shut' } };
  const gate = await changeGate(table, seen, (each) => {
    last.entry = probeOnly && !each.open ? { kind: 'shut' } : enter(each, deliveryId, now);
    return last.entry.kind === 'enter' ? last.entry.gate : each;
  });
  if (gate === undefined) return { kind: 'deleted' };
  return last.entry.kind === 'enter' ? { kind: 'in', gate, until: last.entry.until } : last.entry;
};
