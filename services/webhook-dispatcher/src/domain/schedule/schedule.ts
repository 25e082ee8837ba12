import { countAllRecentResponses, countResponse } from "./response-rates.ts";
import {
  type WithDestination,
  type ReadyQueue,
  addReady,
  createReadyQueue,
  needsRefill,
  prefetchLimit,
  prefetchCapacity,
  takeAll,
  takeAllOfEndpoint,
  takeNext,
  takeStale,
} from "./ready-queue.ts";
import {
  type FullDestinations,
  type Destination,
  type SlotLimits,
  type Slots,
  type EndpointShare,
  countFreeSlots,
  createSlots,
  hasFreeSlot,
  listFullDestinations,
  releaseSlot,
  allocateSlots,
  takeSlot,
} from "./slots.ts";

/**
 * What a process knows that sends webhooks: the one answer to "may this be sent now?". Only `schedule`
 * changes it. The same inputs at the same instants always have the same effects.
 */
export type Schedule<Item extends WithDestination> = {
  readonly slots: Slots;
  /** What is leased and waits in memory for a slot. */
  readonly ready: ReadyQueue<Item>;
  /** Endpoints for which deliveries are known to wait in the queue, each with its latest mark. */
  readonly backlog: Map<string, { destination: Destination; mark: number }>;
  marksCount: number;
  /** Results that are not yet kept. */
  unwrittenCount: number;
  isStopping: boolean;
};

/** Which endpoints to look for in the queue. */
export type QueuePoll = {
  atMs: number;
  /** The latest mark that the answer can tell of. */
  mark: number;
  limit: number;
  /** Whom to leave out, but for those that are to be looked at always. */
  excluded: FullDestinations;
  alwaysIncluded: readonly string[];
};

/** What to lease: at most how many of which endpoint. */
export type Claim = { atMs: number; mark: number; shares: readonly EndpointShare[] };

type WaitingDestination = Destination & { dueAt: Date };

/** What happened. */
export type Input<Item> =
  /** Deliveries were opened: some are leased to this process, at other places they wait. */
  | { kind: "opened"; leased: readonly Item[]; waiting: readonly Destination[] }
  /** It is time to look for what is due. */
  | { kind: "look" }
  /** The look found these endpoints, the earliest due first. */
  | { kind: "found"; poll: QueuePoll; waiting: readonly WaitingDestination[] }
  | { kind: "claimed"; claim: Claim; leased: readonly Item[] }
  /** An attempt ended, and its result is about to be written. */
  | { kind: "ended"; destination: Destination; hasResponse: boolean }
  /** Results were written, or that is worth nothing any more. */
  | { kind: "written"; count: number }
  /** Some time went by. */
  | { kind: "aged" }
  /** The endpoint was disabled or deleted. */
  | { kind: "left"; endpointId: string }
  /** Leases were given back: deliveries wait there again. */
  | { kind: "givenBack"; destinations: readonly Destination[] }
  | { kind: "stopping" };

/** What is to be done now. */
export type Effects<Item> = {
  /** Attempts to begin, each in a slot that it has until it ends. */
  attemptsToStart: readonly Item[];
  /** Leases to give back: their attempts do not count. */
  leasesToRelease: readonly Item[];
  /** When to look for what is due; at once where that is now. */
  pollAtMs: number | undefined;
  poll: QueuePoll | undefined;
  claim: Claim | undefined;
};

/** What is due and could not be claimed is in another process's claim, for a moment. */
const contendedWaitMs = 50;

const claimRowsMax = 500;
const unwrittenMax = 1_000;

/** New deliveries wait while more is ready, or while more was answered lately and something waits. */
const busyReadyMin = 100;
const busyResponsesMin = 100;

/** Makes the schedule of a process; it learns what others left by looking at the queue. */
export const createSchedule = <Item extends WithDestination>(
  limits: SlotLimits,
): Schedule<Item> => ({
  slots: createSlots(limits),
  ready: createReadyQueue(),
  backlog: new Map(),
  marksCount: 0,
  unwrittenCount: 0,
  isStopping: false,
});

/** Takes in what happened at an instant, and answers what is to be done. */
export const updateSchedule = <Item extends WithDestination>(
  state: Schedule<Item>,
  input: Input<Item>,
  nowMs: number,
): Effects<Item> => {
  switch (input.kind) {
    case "opened":
      for (const destination of input.waiting) markBacklog(state, destination);
      return acceptLeased(state, input.leased, nowMs, input.waiting.length > 0 ? nowMs : undefined);
    case "look":
      return { ...noEffects, poll: createPoll(state, nowMs) };
    case "found":
      return handlePollResult(state, input, nowMs);
    case "claimed":
      return handleClaimed(state, input, nowMs);
    case "ended":
      releaseSlot(state.slots, input.destination);
      if (input.hasResponse) countResponse(state.ready.rates, input.destination.endpointId, nowMs);
      state.unwrittenCount += 1;
      return onCapacityFreed(state, nowMs);
    case "written": {
      const hadBackpressure = hasBackpressure(state);
      state.unwrittenCount -= input.count;
      return hadBackpressure && !hasBackpressure(state) ? onCapacityFreed(state, nowMs) : noEffects;
    }
    case "aged":
      return { ...noEffects, leasesToRelease: takeStale(state.ready, nowMs) };
    case "left":
      return { ...noEffects, leasesToRelease: takeAllOfEndpoint(state.ready, input.endpointId) };
    case "givenBack":
      for (const destination of input.destinations) markBacklog(state, destination);
      return { ...noEffects, pollAtMs: nowMs };
    case "stopping":
      state.isStopping = true;
      return { ...noEffects, leasesToRelease: takeAll(state.ready) };
  }
};

/** How many new deliveries may be leased for each endpoint as they are opened; what lacks has none. */
export const capacityForNewDeliveries = (
  state: Schedule<WithDestination>,
  destinations: readonly Destination[],
  nowMs: number,
): ReadonlyMap<string, number> => {
  if (state.isStopping || hasBackpressure(state)) return new Map();
  // Nothing new goes before what waits.
  const destinationsWithoutBacklog = destinations.filter(
    ({ endpointId }) => !state.backlog.has(endpointId),
  );
  const slotShares = allocateShares(state, destinationsWithoutBacklog, nowMs);
  return new Map(slotShares.map(({ destination, share }) => [destination.endpointId, share]));
};

/**
 * Whether so much waits in memory, or in the queue for endpoints that take five hundred a second between
 * them, that new deliveries would only pass through the queue.
 */
export const isBusy = (state: Schedule<WithDestination>, nowMs: number): boolean => {
  if (state.ready.size > busyReadyMin) return true;
  if (countAllRecentResponses(state.ready.rates, nowMs) <= busyResponsesMin) return false;
  return hasBacklogWhere(
    state,
    ({ endpointId }) => prefetchLimit(state.ready, endpointId, nowMs) > 0,
  );
};

const noEffects: Effects<never> = {
  attemptsToStart: [],
  leasesToRelease: [],
  pollAtMs: undefined,
  poll: undefined,
  claim: undefined,
};

const createPoll = (state: Schedule<WithDestination>, nowMs: number): QueuePoll | undefined => {
  const alwaysIncluded = [...state.ready.rates.endpoints.keys()].filter((id) =>
    needsRefill(state.ready, id, nowMs),
  );
  const limit = countFreeSlots(state.slots) + alwaysIncluded.length;
  // An attempt that ends frees its slot and asks for a look.
  if (state.isStopping || hasBackpressure(state) || limit === 0) return undefined;
  return {
    atMs: nowMs,
    mark: state.marksCount,
    limit,
    excluded: listFullDestinations(state.slots),
    alwaysIncluded,
  };
};

const handlePollResult = (
  state: Schedule<WithDestination>,
  { poll, waiting }: { poll: QueuePoll; waiting: readonly WaitingDestination[] },
  nowMs: number,
): Effects<never> => {
  if (state.isStopping) return noEffects;
  const isComplete = waiting.length < poll.limit && Object.values(poll.excluded).every(isEmpty);
  if (isComplete)
    for (const endpointId of state.backlog.keys()) clearBacklog(state, endpointId, poll);
  const dueDestinations = waiting.filter(({ dueAt }) => dueAt.getTime() <= poll.atMs);
  if (dueDestinations.length === 0) return { ...noEffects, pollAtMs: waiting[0]?.dueAt.getTime() };
  for (const destination of dueDestinations) {
    if (!state.backlog.has(destination.endpointId))
      state.backlog.set(destination.endpointId, { destination, mark: poll.mark });
  }
  const slotShares = allocateShares(state, dueDestinations, nowMs);
  if (slotShares.length === 0) return { ...noEffects, pollAtMs: nowMs + contendedWaitMs };
  return { ...noEffects, claim: { atMs: poll.atMs, mark: poll.mark, shares: slotShares } };
};

const isEmpty = (list: readonly string[]): boolean => list.length === 0;

const handleClaimed = <Item extends WithDestination>(
  state: Schedule<Item>,
  { claim, leased }: { claim: Claim; leased: readonly Item[] },
  nowMs: number,
): Effects<Item> => {
  const byEndpoint = Map.groupBy(leased, ({ destination }) => destination.endpointId);
  for (const { destination, share } of claim.shares) {
    const leasedCount = byEndpoint.get(destination.endpointId)?.length ?? 0;
    if (leasedCount < share) clearBacklog(state, destination.endpointId, claim);
  }
  return acceptLeased(state, leased, nowMs, leased.length > 0 ? nowMs : nowMs + contendedWaitMs);
};

/** Whose turn it is: what may begin now, and what may be leased ahead. */
const allocateShares = (
  state: Schedule<WithDestination>,
  destinations: readonly Destination[],
  nowMs: number,
): EndpointShare[] => {
  const slotShares = allocateSlots(state.slots, destinations);
  const shareByEndpoint = new Map(
    slotShares.map(({ destination, share }) => [destination.endpointId, share]),
  );
  let remainingRows = claimRowsMax;
  return destinations.flatMap((destination) => {
    const { endpointId } = destination;
    const requestedCount =
      (shareByEndpoint.get(endpointId) ?? 0) + prefetchCapacity(state.ready, endpointId, nowMs);
    const share = Math.min(requestedCount, remainingRows);
    remainingRows -= share;
    return share > 0 ? [{ destination, share }] : [];
  });
};

/** Takes over what was leased; once it is stopping, it gives it back. */
const acceptLeased = <Item extends WithDestination>(
  state: Schedule<Item>,
  leased: readonly Item[],
  nowMs: number,
  pollAtMs: number | undefined,
): Effects<Item> => {
  if (state.isStopping) return { ...noEffects, leasesToRelease: leased, pollAtMs };
  for (const item of leased) addReady(state.ready, item, nowMs);
  return { ...noEffects, attemptsToStart: startReady(state), pollAtMs };
};

/** A slot is free again, or a result was written. */
const onCapacityFreed = <Item extends WithDestination>(
  state: Schedule<Item>,
  nowMs: number,
): Effects<Item> => {
  const attemptsToStart = startReady(state);
  const shouldPoll = hasBacklogWhere(
    state,
    (destination) =>
      hasFreeSlot(state.slots, destination) ||
      needsRefill(state.ready, destination.endpointId, nowMs),
  );
  return { ...noEffects, attemptsToStart, pollAtMs: shouldPoll ? nowMs : undefined };
};

const startReady = <Item extends WithDestination>(state: Schedule<Item>): Item[] => {
  const { slots, ready } = state;
  const started: Item[] = [];
  while (!hasBackpressure(state) && countFreeSlots(slots) > 0) {
    const nextItem = takeNext(ready, (destination) => hasFreeSlot(slots, destination));
    if (nextItem === undefined) break;
    takeSlot(slots, nextItem.destination);
    started.push(nextItem);
  }
  return started;
};

/** Results wait in such numbers that nothing further begins. */
const hasBackpressure = ({ unwrittenCount }: Schedule<WithDestination>): boolean =>
  unwrittenCount >= unwrittenMax;

const hasBacklogWhere = (
  { backlog }: Schedule<WithDestination>,
  predicate: (destination: Destination) => boolean,
): boolean => {
  for (const { destination } of backlog.values()) if (predicate(destination)) return true;
  return false;
};

/** Notes that something waits for the endpoint: each time anew, so that a later mark is told apart. */
const markBacklog = (state: Schedule<WithDestination>, destination: Destination): void => {
  state.marksCount += 1;
  state.backlog.set(destination.endpointId, { destination, mark: state.marksCount });
};

/** Nothing waits any more for the endpoint, unless it was marked again since. */
const clearBacklog = (
  { backlog }: Schedule<WithDestination>,
  endpointId: string,
  asOf: { mark: number },
): void => {
  const backlogEntry = backlog.get(endpointId);
  if (backlogEntry !== undefined && backlogEntry.mark <= asOf.mark) backlog.delete(endpointId);
};
