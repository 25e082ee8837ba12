import {
  type WithDestination,
  type ReadyQueue,
  addReady,
  countAllRecentResponses,
  countResponse,
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
 * The state that decides what a process can send now. Only `updateSchedule` changes it. The same
 * inputs at the same times always have the same effects.
 */
export type Schedule<Item extends WithDestination> = {
  readonly slots: Slots;
  /** Leased attempts that wait in memory for a slot. */
  readonly ready: ReadyQueue<Item>;
  /**
   * Endpoints that are known to have deliveries waiting in the queue. `mark` is the number of the
   * latest call of `markBacklog`.
   */
  readonly backlog: Map<string, { destination: Destination; mark: number }>;
  marksCount: number;
  /** Results that are not stored yet. */
  unwrittenCount: number;
  isStopping: boolean;
};

/** A query for endpoints with due deliveries in the queue. */
export type QueuePoll = {
  atMs: number;
  /**
   * The number of calls of `markBacklog` before the poll. The poll's result does not cover later
   * ones.
   */
  mark: number;
  limit: number;
  /** Destinations without free slots. `alwaysIncluded` takes precedence. */
  excluded: FullDestinations;
  alwaysIncluded: readonly string[];
};

/** The maximum number of deliveries to lease per endpoint. */
export type Claim = { atMs: number; mark: number; shares: readonly EndpointShare[] };

type WaitingDestination = Destination & { dueAt: Date };

/** An event that the schedule reacts to. */
export type Input<Item> =
  /** Deliveries were created and leased to this process. */
  | { kind: "leased"; leased: readonly Item[] }
  /** Deliveries to these destinations wait in the queue: new ones, or ones whose leases ended. */
  | { kind: "queued"; destinations: readonly Destination[] }
  /** It is time to poll for due deliveries. */
  | { kind: "look" }
  /** The poll found these endpoints, earliest due first. */
  | { kind: "found"; poll: QueuePoll; waiting: readonly WaitingDestination[] }
  | { kind: "claimed"; claim: Claim; leased: readonly Item[] }
  /** An attempt ended. Its result is about to be written. */
  | { kind: "ended"; destination: Destination; hasResponse: boolean }
  /** Results were written, or expired. */
  | { kind: "written"; count: number }
  /** Time has passed. */
  | { kind: "aged" }
  /** The endpoint was disabled or deleted. */
  | { kind: "left"; endpointId: string }
  | { kind: "stopping" };

/** What the dispatcher must do now. */
export type Effects<Item> = {
  /** Attempts to start. Each occupies a slot until it ends. */
  attemptsToStart: readonly Item[];
  /** Leases to release. They do not count as attempts. */
  leasesToRelease: readonly Item[];
  /** When to poll for due deliveries. The poll is immediate if this is the current time. */
  pollAtMs: number | undefined;
  poll: QueuePoll | undefined;
  claim: Claim | undefined;
};

/** The wait before the next poll if another process is claiming the due deliveries. */
const contendedWaitMs = 50;

const claimRowsMax = 500;
const unwrittenMax = 1_000;

/**
 * The thresholds of `isBusy`: the number of ready attempts, and the number of recent responses
 * while there is a backlog.
 */
const busyReadyMin = 100;
const busyResponsesMin = 100;

/**
 * Creates the schedule of a process. Its backlog is empty at first; polls find the deliveries that
 * are already in the queue.
 */
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

/** Applies an event and returns its effects. */
export const updateSchedule = <Item extends WithDestination>(
  state: Schedule<Item>,
  input: Input<Item>,
  nowMs: number,
): Effects<Item> => {
  switch (input.kind) {
    case "leased":
      return acceptLeased(state, input.leased, nowMs, undefined);
    case "queued":
      for (const destination of input.destinations) markBacklog(state, destination);
      return { ...noEffects, pollAtMs: nowMs };
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
    case "stopping":
      state.isStopping = true;
      return { ...noEffects, leasesToRelease: takeAll(state.ready) };
  }
};

/**
 * Returns how many new deliveries may be leased per endpoint. An endpoint that is not in the result
 * gets none.
 */
export const capacityForNewDeliveries = (
  state: Schedule<WithDestination>,
  destinations: readonly Destination[],
  nowMs: number,
): ReadonlyMap<string, number> => {
  if (state.isStopping || hasBackpressure(state)) return new Map();
  // New deliveries must not overtake waiting ones.
  const destinationsWithoutBacklog = destinations.filter(
    ({ endpointId }) => !state.backlog.has(endpointId),
  );
  const slotShares = allocateShares(state, destinationsWithoutBacklog, nowMs);
  return new Map(slotShares.map(({ destination, share }) => [destination.endpointId, share]));
};

/**
 * Returns whether new deliveries would have to wait in the queue. This is the case if many attempts
 * are ready, or if responsive endpoints have a backlog while all endpoints together return more
 * than 500 responses per second.
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
  // A poll is not needed without free slots: an attempt that ends frees its slot and triggers one.
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

/** Allocates free slots and prefetch capacity to destinations. */
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

/** Accepts leased deliveries, or releases them if the process is stopping. */
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

/** Handles a freed slot or written results. */
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

/** Returns whether so many results are unwritten that no attempt may start. */
const hasBackpressure = ({ unwrittenCount }: Schedule<WithDestination>): boolean =>
  unwrittenCount >= unwrittenMax;

const hasBacklogWhere = (
  { backlog }: Schedule<WithDestination>,
  predicate: (destination: Destination) => boolean,
): boolean => {
  for (const { destination } of backlog.values()) if (predicate(destination)) return true;
  return false;
};

/**
 * Records that deliveries wait for the endpoint. Each call increments the mark, so that {@link
 * clearBacklog} can detect that deliveries were added after a poll.
 */
const markBacklog = (state: Schedule<WithDestination>, destination: Destination): void => {
  state.marksCount += 1;
  state.backlog.set(destination.endpointId, { destination, mark: state.marksCount });
};

/**
 * Records that no deliveries wait for the endpoint, unless it was marked again after the poll or
 * claim.
 */
const clearBacklog = (
  { backlog }: Schedule<WithDestination>,
  endpointId: string,
  asOf: { mark: number },
): void => {
  const backlogEntry = backlog.get(endpointId);
  if (backlogEntry !== undefined && backlogEntry.mark <= asOf.mark) backlog.delete(endpointId);
};
