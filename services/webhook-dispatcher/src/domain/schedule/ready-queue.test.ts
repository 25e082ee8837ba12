import { describe, expect, test } from "@jest/globals";
import {
  addReady,
  countResponse,
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

describe("the ready queue", () => {
  test("has capacity for as many attempts as the endpoint responded to recently", () => {
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

  test("subtracts ready attempts from the capacity, and needs a refill at half of it", () => {
    const queue = createQueue();
    queue.respond("a", 4);
    for (const name of ["1", "2", "3"]) queue.add("a", name);
    expect([queue.capacity("a"), queue.needsRefill("a")]).toEqual([1, false]);
    queue.takeNext();
    queue.takeNext();
    expect(queue.needsRefill("a")).toBe(true);
    expect(queue.needsRefill("silent")).toBe(false);
  });

  test("needs no refill while 500 attempts are ready in total", () => {
    const queue = createQueue();
    queue.respond("a", 4);
    for (let index = 0; index < 499; index += 1) queue.add("b", "x");
    expect(queue.needsRefill("a")).toBe(true);
    queue.add("b", "x");
    expect(queue.needsRefill("a")).toBe(false);
  });

  test("counts responses for a thousand endpoints and evicts the least recent one", () => {
    const queue = createQueue();
    for (const endpointId of ["a", "b", "a"]) queue.respond(endpointId, 1);
    for (let index = 0; index < 998; index += 1) queue.respond(`e${index}`, 1);
    expect([queue.capacity("a"), queue.capacity("b")]).toEqual([2, 1]);
    queue.respond("last", 1);
    expect([queue.capacity("a"), queue.capacity("b"), queue.capacity("last")]).toEqual([2, 0, 1]);
  });

  test("is limited per endpoint and in total", () => {
    const queue = createQueue();
    queue.respond("a", 5_000);
    expect(queue.capacity("a")).toBe(500);
    for (const endpointId of ["b", "c"]) {
      for (let index = 0; index < 450; index += 1) queue.add(endpointId, "x");
    }
    expect(queue.capacity("a")).toBe(100);
  });

  test("keeps the order per endpoint and takes turns between endpoints", () => {
    const queue = createQueue();
    for (const name of ["a1", "a2", "a3", "b1"]) queue.add(name.slice(0, 1), name);
    const names = [1, 2, 3, 4].map(() => queue.takeNext()?.name);
    expect(names).toEqual(["a1", "b1", "a2", "a3"]);
    expect([queue.takeNext(), queue.ready.size]).toEqual([undefined, 0]);
  });

  test("skips an endpoint without a free slot", () => {
    const queue = createQueue();
    for (const name of ["a1", "b1"]) queue.add(name.slice(0, 1), name);
    const nextItem = queue.takeNext(({ endpointId }) => endpointId === "b");
    expect([nextItem?.name, queue.ready.size]).toEqual(["b1", 1]);
  });

  test("returns stale attempts after half a second, even with newer ones behind them", () => {
    const queue = createQueue();
    queue.add("a", "old");
    queue.advance(400);
    queue.add("a", "young");
    queue.advance(100);
    expect(queue.takeStale().map(({ name }) => name)).toEqual(["old"]);
    expect(takeAllOfEndpoint(queue.ready, "a").map(({ name }) => name)).toEqual(["young"]);
    expect([queue.ready.size, queue.ready.queues.size]).toEqual([0, 0]);
  });

  test("treats attempts as stale, and ignores responses, after the clock is set back", () => {
    const queue = createQueue();
    queue.respond("a", 7);
    queue.add("a", "old");
    queue.advance(-3_600_000);
    queue.advance(500);
    expect(queue.capacity("a")).toBe(0);
    expect(queue.takeStale().map(({ name }) => name)).toEqual(["old"]);
  });
});
