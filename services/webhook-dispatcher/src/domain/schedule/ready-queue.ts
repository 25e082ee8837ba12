import { type AnswerRates, answersOf, createAnswerRates } from "./answer-rates.ts";
import type { Place } from "./slots.ts";

/** Something that goes to a place. */
export type Placed = { place: Place };

type Waiting<Item> = { item: Item; sinceMs: number };

/** Leased attempts that wait in this process for a slot, endpoint by endpoint and in their order. */
export type ReadyQueue<Item extends Placed> = {
  /** The endpoint whose turn is next stands first. */
  readonly queues: Map<string, Waiting<Item>[]>;
  size: number;
  /** Whoever answers has something leased ahead. */
  readonly rates: AnswerRates;
};

const perEndpointMax = 500;
const readyMax = 1_000;

/** Who lets an attempt wait for longer no longer answers. */
const waitMsMax = 500;

/** Makes the queue, empty. */
export const createReadyQueue = <Item extends Placed>(): ReadyQueue<Item> => ({
  queues: new Map(),
  size: 0,
  rates: createAnswerRates(),
});

/**
 * How many may be leased ahead for an endpoint in all: as many as it answered lately, so that they wait
 * about as long and one claim brings them. One that hangs answers nothing, and has nothing leased ahead.
 */
export const mayHold = ({ rates }: ReadyQueue<Placed>, endpointId: string, nowMs: number): number =>
  Math.min(answersOf(rates, endpointId, nowMs), perEndpointMax);

/** How many more. */
export const roomAhead = (ready: ReadyQueue<Placed>, endpointId: string, nowMs: number): number => {
  const own = mayHold(ready, endpointId, nowMs) - countReady(ready, endpointId);
  return Math.max(0, Math.min(own, readyMax - ready.size));
};

/** Whether an endpoint's queue has run down to a half of what it may hold. */
export const isHungry = (ready: ReadyQueue<Placed>, endpointId: string, nowMs: number): boolean =>
  ready.size < readyMax / 2 &&
  countReady(ready, endpointId) < mayHold(ready, endpointId, nowMs) / 2;

/** Puts an attempt behind the others of its endpoint. */
export const addReady = <Item extends Placed>(
  ready: ReadyQueue<Item>,
  item: Item,
  nowMs: number,
): void => {
  const { endpointId } = item.place;
  const waiting = { item, sinceMs: nowMs };
  const queue = ready.queues.get(endpointId);
  if (queue === undefined) ready.queues.set(endpointId, [waiting]);
  else queue.push(waiting);
  ready.size += 1;
};

/** Takes the first whose place has room now. */
export const takeNext = <Item extends Placed>(
  ready: ReadyQueue<Item>,
  isFree: (place: Place) => boolean,
): Item | undefined => {
  for (const [endpointId, queue] of ready.queues) {
    const [first] = queue;
    if (first === undefined || !isFree(first.item.place)) continue;
    queue.shift();
    // The next turn is another's.
    ready.queues.delete(endpointId);
    if (queue.length > 0) ready.queues.set(endpointId, queue);
    ready.size -= 1;
    return first.item;
  }
  return undefined;
};

/**
 * Takes all that have waited for too long. What came later than now waited for nobody knows how long:
 * the machine's clock was set back.
 */
export const takeStale = <Item extends Placed>(ready: ReadyQueue<Item>, nowMs: number): Item[] =>
  [...ready.queues].flatMap(([endpointId, queue]) => {
    const youngAt = queue.findIndex(
      ({ sinceMs }) => sinceMs > nowMs - waitMsMax && sinceMs <= nowMs,
    );
    return takeFirst(ready, endpointId, youngAt === -1 ? queue.length : youngAt);
  });

/** Takes all of an endpoint. */
export const takeAllOf = <Item extends Placed>(
  ready: ReadyQueue<Item>,
  endpointId: string,
): Item[] => takeFirst(ready, endpointId, Infinity);

/** Takes all there are. */
export const takeAll = <Item extends Placed>(ready: ReadyQueue<Item>): Item[] =>
  [...ready.queues.keys()].flatMap((endpointId) => takeAllOf(ready, endpointId));

const takeFirst = <Item extends Placed>(
  ready: ReadyQueue<Item>,
  endpointId: string,
  count: number,
): Item[] => {
  const queue = ready.queues.get(endpointId);
  if (queue === undefined) return [];
  const taken = queue.splice(0, count);
  if (queue.length === 0) ready.queues.delete(endpointId);
  ready.size -= taken.length;
  return taken.map(({ item }) => item);
};

const countReady = ({ queues }: ReadyQueue<Placed>, endpointId: string): number =>
  queues.get(endpointId)?.length ?? 0;
