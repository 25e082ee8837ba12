import { answersOfAll, countAnswer } from "./answer-rates.ts";
import {
  type Placed,
  type ReadyQueue,
  addReady,
  createReadyQueue,
  isHungry,
  mayHold,
  roomAhead,
  takeAll,
  takeAllOf,
  takeNext,
  takeStale,
} from "./ready-queue.ts";
import {
  type FullPlaces,
  type Place,
  type SlotBounds,
  type Slots,
  type Turn,
  countFree,
  createSlots,
  hasRoom,
  listFull,
  releaseSlot,
  shareSlots,
  takeSlot,
} from "./slots.ts";

/**
 * What a process knows that sends webhooks: the one answer to "may this be sent now?". Only `schedule`
 * changes it. The same inputs at the same instants always have the same effects.
 */
export type Schedule<Item extends Placed> = {
  readonly slots: Slots;
  /** What is leased and waits in memory for a slot. */
  readonly ready: ReadyQueue<Item>;
  /** Endpoints for which deliveries are known to wait in the queue, each with its latest mark. */
  readonly backlog: Map<string, { place: Place; mark: number }>;
  marksCount: number;
  /** Results that are not yet kept. */
  unwrittenCount: number;
  isStopping: boolean;
};

/** Which endpoints to look for in the queue. */
export type Look = {
  atMs: number;
  /** The latest mark that the answer can tell of. */
  mark: number;
  limit: number;
  /** Whom to leave out, but for those that are to be looked at always. */
  without: FullPlaces;
  always: readonly string[];
};

/** What to lease: at most how many of which endpoint. */
export type Claim = { atMs: number; mark: number; turns: readonly Turn[] };

type WaitingPlace = Place & { dueAt: Date };

/** What happened. */
export type Input<Item> =
  /** Deliveries were opened: some are leased to this process, at other places they wait. */
  | { kind: "opened"; leased: readonly Item[]; waiting: readonly Place[] }
  /** It is time to look for what is due. */
  | { kind: "look" }
  /** The look found these endpoints, the earliest due first. */
  | { kind: "found"; look: Look; waiting: readonly WaitingPlace[] }
  | { kind: "claimed"; claim: Claim; leased: readonly Item[] }
  /** An attempt ended, and its result is about to be written. */
  | { kind: "ended"; place: Place; isAnswered: boolean }
  /** Results were written, or that is worth nothing any more. */
  | { kind: "written"; count: number }
  /** Some time went by. */
  | { kind: "aged" }
  /** The endpoint was disabled or deleted. */
  | { kind: "left"; endpointId: string }
  /** Leases were given back: deliveries wait there again. */
  | { kind: "givenBack"; places: readonly Place[] }
  | { kind: "stopping" };

/** What is to be done now. */
export type Effects<Item> = {
  /** Attempts to begin, each in a slot that it has until it ends. */
  begin: readonly Item[];
  /** Leases to give back: their attempts do not count. */
  giveBack: readonly Item[];
  /** When to look for what is due; at once where that is now. */
  lookAtMs: number | undefined;
  look: Look | undefined;
  claim: Claim | undefined;
};

/** What is due and could not be claimed is in another process's claim, for a moment. */
const contendedWaitMs = 50;

const claimRowsMax = 500;
const unwrittenMax = 1_000;

/** New deliveries wait while more is ready, or while more was answered lately and something waits. */
const pacedReadyMin = 100;
const pacedAnswersMin = 100;

/** Makes the schedule of a process; it learns what others left by looking at the queue. */
export const createSchedule = <Item extends Placed>(bounds: SlotBounds): Schedule<Item> => ({
  slots: createSlots(bounds),
  ready: createReadyQueue(),
  backlog: new Map(),
  marksCount: 0,
  unwrittenCount: 0,
  isStopping: false,
});

/** Takes in what happened at an instant, and answers what is to be done. */
export const schedule = <Item extends Placed>(
  state: Schedule<Item>,
  input: Input<Item>,
  nowMs: number,
): Effects<Item> => {
  switch (input.kind) {
    case "opened":
      for (const place of input.waiting) mark(state, place);
      return accept(state, input.leased, nowMs, input.waiting.length > 0 ? nowMs : undefined);
    case "look":
      return { ...nothing, look: lookFor(state, nowMs) };
    case "found":
      return takeFound(state, input, nowMs);
    case "claimed":
      return takeClaimed(state, input, nowMs);
    case "ended":
      releaseSlot(state.slots, input.place);
      if (input.isAnswered) countAnswer(state.ready.rates, input.place.endpointId, nowMs);
      state.unwrittenCount += 1;
      return goOn(state, nowMs);
    case "written": {
      const wasClogged = isClogged(state);
      state.unwrittenCount -= input.count;
      return wasClogged && !isClogged(state) ? goOn(state, nowMs) : nothing;
    }
    case "aged":
      return { ...nothing, giveBack: takeStale(state.ready, nowMs) };
    case "left":
      return { ...nothing, giveBack: takeAllOf(state.ready, input.endpointId) };
    case "givenBack":
      for (const place of input.places) mark(state, place);
      return { ...nothing, lookAtMs: nowMs };
    case "stopping":
      state.isStopping = true;
      return { ...nothing, giveBack: takeAll(state.ready) };
  }
};

/** How many new deliveries may be leased for each endpoint as they are opened; what lacks has none. */
export const roomForNew = (
  state: Schedule<Placed>,
  places: readonly Place[],
  nowMs: number,
): ReadonlyMap<string, number> => {
  if (state.isStopping || isClogged(state)) return new Map();
  // Nothing new goes before what waits.
  const caughtUp = places.filter(({ endpointId }) => !state.backlog.has(endpointId));
  const turns = dealTurns(state, caughtUp, nowMs);
  return new Map(turns.map(({ place, share }) => [place.endpointId, share]));
};

/**
 * Whether so much waits in memory, or in the queue for endpoints that take five hundred a second between
 * them, that new deliveries would only pass through the queue.
 */
export const isBusy = (state: Schedule<Placed>, nowMs: number): boolean => {
  if (state.ready.size > pacedReadyMin) return true;
  if (answersOfAll(state.ready.rates, nowMs) <= pacedAnswersMin) return false;
  return someWaits(state, ({ endpointId }) => mayHold(state.ready, endpointId, nowMs) > 0);
};

const nothing: Effects<never> = {
  begin: [],
  giveBack: [],
  lookAtMs: undefined,
  look: undefined,
  claim: undefined,
};

const lookFor = (state: Schedule<Placed>, nowMs: number): Look | undefined => {
  const always = [...state.ready.rates.endpoints.keys()].filter((id) =>
    isHungry(state.ready, id, nowMs),
  );
  const limit = countFree(state.slots) + always.length;
  // An attempt that ends frees its slot and asks for a look.
  if (state.isStopping || isClogged(state) || limit === 0) return undefined;
  return { atMs: nowMs, mark: state.marksCount, limit, without: listFull(state.slots), always };
};

const takeFound = (
  state: Schedule<Placed>,
  { look, waiting }: { look: Look; waiting: readonly WaitingPlace[] },
  nowMs: number,
): Effects<never> => {
  if (state.isStopping) return nothing;
  const isWhole = waiting.length < look.limit && Object.values(look.without).every(isEmpty);
  if (isWhole) for (const endpointId of state.backlog.keys()) unmark(state, endpointId, look);
  const due = waiting.filter(({ dueAt }) => dueAt.getTime() <= look.atMs);
  if (due.length === 0) return { ...nothing, lookAtMs: waiting[0]?.dueAt.getTime() };
  for (const place of due) {
    if (!state.backlog.has(place.endpointId))
      state.backlog.set(place.endpointId, { place, mark: look.mark });
  }
  const turns = dealTurns(state, due, nowMs);
  if (turns.length === 0) return { ...nothing, lookAtMs: nowMs + contendedWaitMs };
  return { ...nothing, claim: { atMs: look.atMs, mark: look.mark, turns } };
};

const isEmpty = (list: readonly string[]): boolean => list.length === 0;

const takeClaimed = <Item extends Placed>(
  state: Schedule<Item>,
  { claim, leased }: { claim: Claim; leased: readonly Item[] },
  nowMs: number,
): Effects<Item> => {
  const byEndpoint = Map.groupBy(leased, ({ place }) => place.endpointId);
  for (const { place, share } of claim.turns) {
    const got = byEndpoint.get(place.endpointId)?.length ?? 0;
    if (got < share) unmark(state, place.endpointId, claim);
  }
  return accept(state, leased, nowMs, leased.length > 0 ? nowMs : nowMs + contendedWaitMs);
};

/** Whose turn it is: what may begin now, and what may be leased ahead. */
const dealTurns = (state: Schedule<Placed>, places: readonly Place[], nowMs: number): Turn[] => {
  const turns = shareSlots(state.slots, places);
  const shares = new Map(turns.map(({ place, share }) => [place.endpointId, share]));
  let left = claimRowsMax;
  return places.flatMap((place) => {
    const { endpointId } = place;
    const wanted = (shares.get(endpointId) ?? 0) + roomAhead(state.ready, endpointId, nowMs);
    const share = Math.min(wanted, left);
    left -= share;
    return share > 0 ? [{ place, share }] : [];
  });
};

/** Takes over what was leased; once it is stopping, it gives it back. */
const accept = <Item extends Placed>(
  state: Schedule<Item>,
  leased: readonly Item[],
  nowMs: number,
  lookAtMs: number | undefined,
): Effects<Item> => {
  if (state.isStopping) return { ...nothing, giveBack: leased, lookAtMs };
  for (const item of leased) addReady(state.ready, item, nowMs);
  return { ...nothing, begin: beginReady(state), lookAtMs };
};

/** A slot is free again, or a result was written. */
const goOn = <Item extends Placed>(state: Schedule<Item>, nowMs: number): Effects<Item> => {
  const begin = beginReady(state);
  const isWanted = someWaits(
    state,
    (place) => hasRoom(state.slots, place) || isHungry(state.ready, place.endpointId, nowMs),
  );
  return { ...nothing, begin, lookAtMs: isWanted ? nowMs : undefined };
};

const beginReady = <Item extends Placed>(state: Schedule<Item>): Item[] => {
  const { slots, ready } = state;
  const begun: Item[] = [];
  while (!isClogged(state) && countFree(slots) > 0) {
    const next = takeNext(ready, (place) => hasRoom(slots, place));
    if (next === undefined) break;
    takeSlot(slots, next.place);
    begun.push(next);
  }
  return begun;
};

/** Results wait in such numbers that nothing further begins. */
const isClogged = ({ unwrittenCount }: Schedule<Placed>): boolean => unwrittenCount >= unwrittenMax;

const someWaits = ({ backlog }: Schedule<Placed>, test: (place: Place) => boolean): boolean => {
  for (const { place } of backlog.values()) if (test(place)) return true;
  return false;
};

/** Notes that something waits for the endpoint: each time anew, so that a later mark is told apart. */
const mark = (state: Schedule<Placed>, place: Place): void => {
  state.marksCount += 1;
  state.backlog.set(place.endpointId, { place, mark: state.marksCount });
};

/** Nothing waits any more for the endpoint, unless it was marked again since. */
const unmark = (
  { backlog }: Schedule<Placed>,
  endpointId: string,
  since: { mark: number },
): void => {
  const latest = backlog.get(endpointId);
  if (latest !== undefined && latest.mark <= since.mark) backlog.delete(endpointId);
};
