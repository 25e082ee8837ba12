import type { Destination } from "./slots.ts";

/** Anything with a destination. */
export type WithDestination = { destination: Destination };

type QueuedItem<Item> = { item: Item; queuedAtMs: number };

/** The leased attempts that wait in this process for a slot, in order for each endpoint. */
export type ReadyQueue<Item extends WithDestination> = {
  /** The endpoints in the order of their turns. The next one is first. */
  readonly queues: Map<string, QueuedItem<Item>[]>;
  size: number;
  /** Recent response rates, which determine how many attempts to prefetch. */
  readonly rates: ResponseRates;
};

const perEndpointMax = 500;
const readyMax = 1_000;

/** If an attempt waits longer than this, its endpoint has stopped responding. */
const waitMsMax = 500;

/** Creates an empty queue. */
export const createReadyQueue = <Item extends WithDestination>(): ReadyQueue<Item> => ({
  queues: new Map(),
  size: 0,
  rates: createResponseRates(),
});

/**
 * Returns the maximum number of prefetched attempts for an endpoint: its number of responses in the
 * last window. Attempts then wait for about one window, and a single claim is enough for them. An
 * endpoint that hangs gets none.
 */
export const prefetchLimit = (
  { rates }: ReadyQueue<WithDestination>,
  endpointId: string,
  nowMs: number,
): number => Math.min(countRecentResponses(rates, endpointId, nowMs), perEndpointMax);

/** Returns how many more attempts may be prefetched. */
export const prefetchCapacity = (
  ready: ReadyQueue<WithDestination>,
  endpointId: string,
  nowMs: number,
): number => {
  const endpointCapacity = prefetchLimit(ready, endpointId, nowMs) - countReady(ready, endpointId);
  return Math.max(0, Math.min(endpointCapacity, readyMax - ready.size));
};

/** Returns whether an endpoint's queue is below half of its limit. */
export const needsRefill = (
  ready: ReadyQueue<WithDestination>,
  endpointId: string,
  nowMs: number,
): boolean =>
  ready.size < readyMax / 2 &&
  countReady(ready, endpointId) < prefetchLimit(ready, endpointId, nowMs) / 2;

/** Appends an attempt to its endpoint's queue. */
export const addReady = <Item extends WithDestination>(
  ready: ReadyQueue<Item>,
  item: Item,
  nowMs: number,
): void => {
  const { endpointId } = item.destination;
  const queuedItem = { item, queuedAtMs: nowMs };
  const queue = ready.queues.get(endpointId);
  if (queue === undefined) ready.queues.set(endpointId, [queuedItem]);
  else queue.push(queuedItem);
  ready.size += 1;
};

/** Takes the next attempt whose destination has a free slot. */
export const takeNext = <Item extends WithDestination>(
  ready: ReadyQueue<Item>,
  hasFreeSlot: (destination: Destination) => boolean,
): Item | undefined => {
  for (const [endpointId, queue] of ready.queues) {
    const [firstQueued] = queue;
    if (firstQueued === undefined || !hasFreeSlot(firstQueued.item.destination)) continue;
    queue.shift();
    // Moves the endpoint to the end, so that another one has the next turn.
    ready.queues.delete(endpointId);
    if (queue.length > 0) ready.queues.set(endpointId, queue);
    ready.size -= 1;
    return firstQueued.item;
  }
  return undefined;
};

/**
 * Takes all attempts that have waited too long. If the clock was set back, an attempt can appear to
 * be queued in the future. How long it has waited is unknown then, so it is taken too.
 */
export const takeStale = <Item extends WithDestination>(
  ready: ReadyQueue<Item>,
  nowMs: number,
): Item[] =>
  [...ready.queues].flatMap(([endpointId, queue]) => {
    const firstFreshIndex = queue.findIndex(
      ({ queuedAtMs }) => queuedAtMs > nowMs - waitMsMax && queuedAtMs <= nowMs,
    );
    return takeFirst(ready, endpointId, firstFreshIndex === -1 ? queue.length : firstFreshIndex);
  });

/** Takes all attempts of an endpoint. */
export const takeAllOfEndpoint = <Item extends WithDestination>(
  ready: ReadyQueue<Item>,
  endpointId: string,
): Item[] => takeFirst(ready, endpointId, Infinity);

/** Takes all attempts. */
export const takeAll = <Item extends WithDestination>(ready: ReadyQueue<Item>): Item[] =>
  [...ready.queues.keys()].flatMap((endpointId) => takeAllOfEndpoint(ready, endpointId));

const takeFirst = <Item extends WithDestination>(
  ready: ReadyQueue<Item>,
  endpointId: string,
  count: number,
): Item[] => {
  const queue = ready.queues.get(endpointId);
  if (queue === undefined) return [];
  const takenItems = queue.splice(0, count);
  if (queue.length === 0) ready.queues.delete(endpointId);
  ready.size -= takenItems.length;
  return takenItems.map(({ item }) => item);
};

const countReady = ({ queues }: ReadyQueue<WithDestination>, endpointId: string): number =>
  queues.get(endpointId)?.length ?? 0;

type ResponseCounts = { windowIndex: number; count: number; previousCount: number };

/** The number of recent responses, per endpoint and in total. */
type ResponseRates = {
  /** The least recently responding endpoint comes first. */
  readonly endpoints: Map<string, ResponseCounts>;
  readonly all: ResponseCounts;
};

const windowMs = 200;

/**
 * The maximum number of endpoints for which responses are counted. The endpoint that has not
 * responded for the longest time is evicted first.
 */
const endpointsCountedMax = 1_000;

/** Creates counts that start at zero. */
const createResponseRates = (): ResponseRates => ({
  endpoints: new Map(),
  all: createResponseCounts(),
});

/** Counts a response of the endpoint. */
export const countResponse = (rates: ResponseRates, endpointId: string, nowMs: number): void => {
  const { endpoints, all } = rates;
  const counts = endpoints.get(endpointId) ?? createResponseCounts();
  addResponse(counts, nowMs);
  endpoints.delete(endpointId);
  endpoints.set(endpointId, counts);
  addResponse(all, nowMs);
  if (endpoints.size <= endpointsCountedMax) return;
  const [oldestEndpointId] = endpoints.keys();
  if (oldestEndpointId !== undefined) endpoints.delete(oldestEndpointId);
};

/** Returns the number of responses of an endpoint in the last window. */
const countRecentResponses = (rates: ResponseRates, endpointId: string, nowMs: number): number => {
  const counts = rates.endpoints.get(endpointId);
  return counts === undefined ? 0 : recentCount(counts, nowMs);
};

/** Returns the number of responses of all endpoints in the last window. */
export const countAllRecentResponses = ({ all }: ResponseRates, nowMs: number): number =>
  recentCount(all, nowMs);

const createResponseCounts = (): ResponseCounts => ({
  windowIndex: -1,
  count: 0,
  previousCount: 0,
});

const recentCount = (
  { windowIndex, count, previousCount }: ResponseCounts,
  nowMs: number,
): number => {
  const windowsElapsed = windowIndexAt(nowMs) - windowIndex;
  // Negative if the system clock was set back.
  if (windowsElapsed < 0 || windowsElapsed > 1) return 0;
  return windowsElapsed === 0 ? Math.max(count, previousCount) : count;
};

const addResponse = (counts: ResponseCounts, nowMs: number): void => {
  const windowsElapsed = windowIndexAt(nowMs) - counts.windowIndex;
  if (windowsElapsed !== 0) {
    counts.windowIndex += windowsElapsed;
    counts.previousCount = windowsElapsed === 1 ? counts.count : 0;
    counts.count = 0;
  }
  counts.count += 1;
};

const windowIndexAt = (nowMs: number): number => Math.floor(nowMs / windowMs);
