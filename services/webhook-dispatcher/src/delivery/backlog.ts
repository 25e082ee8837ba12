import type { Place } from "./slots.ts";

/** For which endpoints deliveries are known to wait in the queue, and so go before new ones. */
export type Backlog = {
  has(endpointId: string): boolean;
  some(test: (place: Place) => boolean): boolean;
  mark(place: Place): void;
  /** What was marked until now; to be read before the queue is. */
  marks(): Marks;
  /** Nothing waits any more for the endpoint, unless it was marked again since. */
  clear(endpointId: string, marks: Marks): void;
};

type Marks = ReadonlyMap<string, { place: Place }>;

/** Makes the backlog, empty: it learns of what others left by reading the queue. */
export const createBacklog = (): Backlog => {
  const latest = new Map<string, { place: Place }>();
  return {
    has: (endpointId) => latest.has(endpointId),
    some: (test) => [...latest.values()].some(({ place }) => test(place)),
    // A mark of its own each time, so that a later one is told apart.
    mark: (place) => latest.set(place.endpointId, { place }),
    marks: () => new Map(latest),
    clear: (endpointId, marks) => {
      if (latest.get(endpointId) === marks.get(endpointId)) latest.delete(endpointId);
    },
  };
};
