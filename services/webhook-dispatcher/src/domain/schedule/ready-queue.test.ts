import { describe, expect, test } from "@jest/globals";
import { countResponse } from "./response-rates.ts";
import {
  addReady,
  createReadyQueue,
  needsRefill,
  prefetchCapacity,
  takeAllOfEndpoint,
  takeNext,
  takeStale,
} from "./ready-queue.ts";

const createDestination = (endpointId: string) => ({
  endpointId,
  userId: "user_1",
  origin: "https://x.com",
});
const createItem = (endpointId: string, name: string) => ({
  destination: createDestination(endpointId),
  name,
});
const anyDestination = () => true;

const createQueue = () => {
  const ready = createReadyQueue<ReturnType<typeof createItem>>();
  let nowMs = 1_000_000;
  return {
    ready,
    advance: (ms: number) => {
      nowMs += ms;
    },
    respond: (endpointId: string, count: number) => {
      for (let index = 0; index < count; index += 1) countResponse(ready.rates, endpointId, nowMs);
    },
    add: (endpointId: string, name: string) => addReady(ready, createItem(endpointId, name), nowMs),
    capacity: (endpointId: string) => prefetchCapacity(ready, endpointId, nowMs),
    needsRefill: (endpointId: string) => needsRefill(ready, endpointId, nowMs),
    takeNext: (hasFreeSlot: Parameters<typeof takeNext>[1] = anyDestination) =>
      takeNext(ready, hasFreeSlot),
    takeStale: () => takeStale(ready, nowMs),
  };
};

describe("what is leased ahead", () => {
  test("is as much as an endpoint answered lately; nothing for one that answers nothing", () => {
    const queue = createQueue();
    expect(queue.capacity("a")).toBe(0);
    queue.respond("a", 7);
    expect([queue.capacity("a"), queue.capacity("b")]).toEqual([7, 0]);
    queue.advance(200);
    queue.respond("a", 2);
    expect(queue.capacity("a")).toBe(7);
    queue.advance(200);
    expect(queue.capacity("a")).toBe(2);
    queue.advance(400);
    expect(queue.capacity("a")).toBe(0);
    queue.respond("a", 1);
    expect(queue.capacity("a")).toBe(1);
  });

  test("counts against what may be, and is asked for again once it has run down to a half", () => {
    const queue = createQueue();
    queue.respond("a", 4);
    for (const name of ["1", "2", "3"]) queue.add("a", name);
    expect([queue.capacity("a"), queue.needsRefill("a")]).toEqual([1, false]);
    queue.takeNext();
    queue.takeNext();
    expect(queue.needsRefill("a")).toBe(true);
    expect(queue.needsRefill("silent")).toBe(false);
  });

  test("is asked for by nobody while five hundred are ready in all", () => {
    const queue = createQueue();
    queue.respond("a", 4);
    for (let index = 0; index < 499; index += 1) queue.add("b", "x");
    expect(queue.needsRefill("a")).toBe(true);
    queue.add("b", "x");
    expect(queue.needsRefill("a")).toBe(false);
  });

  test("is for a thousand endpoints: who answered least recently is forgotten first", () => {
    const queue = createQueue();
    for (const endpointId of ["a", "b", "a"]) queue.respond(endpointId, 1);
    for (let index = 0; index < 998; index += 1) queue.respond(`e${index}`, 1);
    expect([queue.capacity("a"), queue.capacity("b")]).toEqual([2, 1]);
    queue.respond("last", 1);
    expect([queue.capacity("a"), queue.capacity("b"), queue.capacity("last")]).toEqual([2, 0, 1]);
  });

  test("is bounded for each endpoint, and for all together", () => {
    const queue = createQueue();
    queue.respond("a", 5_000);
    expect(queue.capacity("a")).toBe(500);
    for (const endpointId of ["b", "c"]) {
      for (let index = 0; index < 450; index += 1) queue.add(endpointId, "x");
    }
    expect(queue.capacity("a")).toBe(100);
  });

  test("is taken in its order for each endpoint, and by turns of the endpoints", () => {
    const queue = createQueue();
    for (const name of ["a1", "a2", "a3", "b1"]) queue.add(name.slice(0, 1), name);
    const names = [1, 2, 3, 4].map(() => queue.takeNext()?.name);
    expect(names).toEqual(["a1", "b1", "a2", "a3"]);
    expect([queue.takeNext(), queue.ready.size]).toEqual([undefined, 0]);
  });

  test("waits where its endpoint has no room, and lets the others pass", () => {
    const queue = createQueue();
    for (const name of ["a1", "b1"]) queue.add(name.slice(0, 1), name);
    const nextItem = queue.takeNext(({ endpointId }) => endpointId === "b");
    expect([nextItem?.name, queue.ready.size]).toEqual(["b1", 1]);
  });

  test("is stale after half a second, whatever came behind it", () => {
    const queue = createQueue();
    queue.add("a", "old");
    queue.advance(400);
    queue.add("a", "young");
    queue.advance(100);
    expect(queue.takeStale().map(({ name }) => name)).toEqual(["old"]);
    expect(takeAllOfEndpoint(queue.ready, "a").map(({ name }) => name)).toEqual(["young"]);
    expect([queue.ready.size, queue.ready.queues.size]).toEqual([0, 0]);
  });

  test("is stale also where the machine's clock is set back, and counts for no answers of now", () => {
    const queue = createQueue();
    queue.respond("a", 7);
    queue.add("a", "old");
    queue.advance(-3_600_000);
    queue.advance(500);
    expect(queue.capacity("a")).toBe(0);
    expect(queue.takeStale().map(({ name }) => name)).toEqual(["old"]);
  });
});
