import { type ResponseRates, countRecentResponses, createResponseRates } from "./response-rates.ts";
import type { Destination } from "./slots.ts";

/** Something that goes to a place. */
export type WithDestination = { destination: Destination };

type QueuedItem<Item> = { item: Item; queuedAtMs: number };

/** Leased attempts that wait in this process for a slot, endpoint by endpoint and in their order. */
export type ReadyQueue<Item extends WithDestination> = {
  /** The endpoint whose turn is next stands first. */
  readonly queues: Map<string, QueuedItem<Item>[]>;
  size: number;
  /** Whoever answers has something leased ahead. */
  readonly rates: ResponseRates;
};

const perEndpointMax = 500;
const readyMax = 1_000;

/** Who lets an attempt wait for longer no longer answers. */
const waitMsMax = 500;

/** Makes the queue, empty. */
export const createReadyQueue = <Item extends WithDestination>(): ReadyQueue<Item> => ({
  queues: new Map(),
  size: 0,
  rates: createResponseRates(),
});

/**
 * How many may be leased ahead for an endpoint in all: as many as it answered lately, so that they wait
 * about as long and one claim brings them. One that hangs answers nothing, and has nothing leased ahead.
 */
export const prefetchLimit = (
  { rates }: ReadyQueue<WithDestination>,
  endpointId: string,
  nowMs: number,
): number => Math.min(countRecentResponses(rates, endpointId, nowMs), perEndpointMax);

/** How many more. */
export const prefetchCapacity = (
  ready: ReadyQueue<WithDestination>,
  endpointId: string,
  nowMs: number,
): number => {
  const endpointCapacity = prefetchLimit(ready, endpointId, nowMs) - countReady(ready, endpointId);
  return Math.max(0, Math.min(endpointCapacity, readyMax - ready.size));
};

/** Whether an endpoint's queue has run down to a half of what it may hold. */
export const needsRefill = (
  ready: ReadyQueue<WithDestination>,
  endpointId: string,
  nowMs: number,
): boolean =>
  ready.size < readyMax / 2 &&
  countReady(ready, endpointId) < prefetchLimit(ready, endpointId, nowMs) / 2;

/** Puts an attempt behind the others of its endpoint. */
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

/** Takes the first whose place has room now. */
export const takeNext = <Item extends WithDestination>(
  ready: ReadyQueue<Item>,
  hasFreeSlot: (destination: Destination) => boolean,
): Item | undefined => {
  for (const [endpointId, queue] of ready.queues) {
    const [firstQueued] = queue;
    if (firstQueued === undefined || !hasFreeSlot(firstQueued.item.destination)) continue;
    queue.shift();
    // The next turn is another's.
    ready.queues.delete(endpointId);
    if (queue.length > 0) ready.queues.set(endpointId, queue);
    ready.size -= 1;
    return firstQueued.item;
  }
  return undefined;
};

/**
 * Takes all that have waited for too long. What came later than now waited for nobody knows how long:
 * the machine's clock was set back.
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

/** Takes all of an endpoint. */
export const takeAllOfEndpoint = <Item extends WithDestination>(
  ready: ReadyQueue<Item>,
  endpointId: string,
): Item[] => takeFirst(ready, endpointId, Infinity);

/** Takes all there are. */
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
