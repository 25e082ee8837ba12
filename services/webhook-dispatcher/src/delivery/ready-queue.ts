import type { Clock } from "@payment-links/runtime";
import type { AnswerRates } from "./answer-rates.ts";
import type { Place } from "./slots.ts";

/** Leased attempts that wait in this process for a slot, endpoint by endpoint and in their order. */
export type ReadyQueue<Item extends { place: Place }> = {
  /**
   * How many may be leased ahead for an endpoint in all: as many as it answered lately, so that they wait
   * about as long and one claim brings them. One that hangs answers nothing, and has nothing leased ahead.
   */
  mayHold(endpointId: string): number;
  /** How many more. */
  room(endpointId: string): number;
  /** Whether an endpoint's queue has run down to a half of what it may hold. */
  isHungry(endpointId: string): boolean;
  /** All those that are. */
  hungry(): string[];
  /** How many wait. */
  size(): number;
  add(item: Item): void;
  /** The first whose place has room now. */
  takeNext(hasRoom: (place: Place) => boolean): Item | undefined;
  /** All that have waited for too long: their endpoint no longer answers. */
  takeStale(): Item[];
  /** All of an endpoint, or all there are. */
  takeAll(endpointId?: string): Item[];
};

const waitMsMax = 500;
const perEndpointMax = 500;
const readyMax = 1_000;

type Waiting<Item> = { item: Item; sinceMs: number };
type Test<Item> = (waiting: Waiting<Item>) => boolean;

/** Makes the queue, empty. */
export const createReadyQueue = <Item extends { place: Place }>(
  clock: Clock,
  rates: AnswerRates,
): ReadyQueue<Item> => {
  const queues = new Map<string, Waiting<Item>[]>();
  let size = 0;

  const lengthOf = (endpointId: string): number => queues.get(endpointId)?.length ?? 0;
  const mayHold = (endpointId: string): number => Math.min(rates.of(endpointId), perEndpointMax);
  const isHungry = (endpointId: string): boolean =>
    size < readyMax / 2 && lengthOf(endpointId) < mayHold(endpointId) / 2;
  const takeWhere = (endpointId: string, isTaken: Test<Item>): Item[] => {
    const queue = queues.get(endpointId) ?? [];
    const left = queue.filter((waiting) => !isTaken(waiting));
    if (left.length === 0) queues.delete(endpointId);
    else queues.set(endpointId, left);
    size -= queue.length - left.length;
    return queue.filter(isTaken).map(({ item }) => item);
  };
  const takeEverywhere = (isTaken: Test<Item>): Item[] =>
    [...queues.keys()].flatMap((endpointId) => takeWhere(endpointId, isTaken));

  return {
    mayHold,
    isHungry,
    hungry: () => [...rates.endpointIds()].filter(isHungry),
    size: () => size,
    room: (endpointId) =>
      Math.max(0, Math.min(mayHold(endpointId) - lengthOf(endpointId), readyMax - size)),
    add: (item) => {
      const { endpointId } = item.place;
      const waiting = { item, sinceMs: clock.now().getTime() };
      const queue = queues.get(endpointId);
      if (queue === undefined) queues.set(endpointId, [waiting]);
      else queue.push(waiting);
      size += 1;
    },
    takeNext: (hasRoom) => {
      for (const [endpointId, queue] of queues) {
        const [first] = queue;
        if (first === undefined || !hasRoom(first.item.place)) continue;
        queue.shift();
        // The next turn is another's.
        queues.delete(endpointId);
        if (queue.length > 0) queues.set(endpointId, queue);
        size -= 1;
        return first.item;
      }
      return undefined;
    },
    takeStale: () => {
      const beforeMs = clock.now().getTime() - waitMsMax;
      return takeEverywhere(({ sinceMs }) => sinceMs <= beforeMs);
    },
    takeAll: (endpointId) =>
      endpointId === undefined ? takeEverywhere(() => true) : takeWhere(endpointId, () => true),
  };
};
