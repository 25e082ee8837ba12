import { describe, expect, test } from "@jest/globals";
import { countAnswer } from "./answer-rates.ts";
import {
  addReady,
  createReadyQueue,
  isHungry,
  roomAhead,
  takeAllOf,
  takeNext,
  takeStale,
} from "./ready-queue.ts";

const place = (endpointId: string) => ({ endpointId, userId: "user_1", origin: "https://x.com" });
const item = (endpointId: string, name: string) => ({ place: place(endpointId), name });
const everywhere = () => true;

const open = () => {
  const ready = createReadyQueue<ReturnType<typeof item>>();
  let nowMs = 1_000_000;
  return {
    ready,
    advance: (ms: number) => {
      nowMs += ms;
    },
    answer: (endpointId: string, count: number) => {
      for (let told = 0; told < count; told += 1) countAnswer(ready.rates, endpointId, nowMs);
    },
    add: (endpointId: string, name: string) => addReady(ready, item(endpointId, name), nowMs),
    room: (endpointId: string) => roomAhead(ready, endpointId, nowMs),
    isHungry: (endpointId: string) => isHungry(ready, endpointId, nowMs),
    takeNext: (isFree: Parameters<typeof takeNext>[1] = everywhere) => takeNext(ready, isFree),
    takeStale: () => takeStale(ready, nowMs),
  };
};

describe("what is leased ahead", () => {
  test("is as much as an endpoint answered lately; nothing for one that answers nothing", () => {
    const queue = open();
    expect(queue.room("a")).toBe(0);
    queue.answer("a", 7);
    expect([queue.room("a"), queue.room("b")]).toEqual([7, 0]);
    queue.advance(200);
    queue.answer("a", 2);
    expect(queue.room("a")).toBe(7);
    queue.advance(200);
    expect(queue.room("a")).toBe(2);
    queue.advance(400);
    expect(queue.room("a")).toBe(0);
    queue.answer("a", 1);
    expect(queue.room("a")).toBe(1);
  });

  test("counts against what may be, and is asked for again once it has run down to a half", () => {
    const queue = open();
    queue.answer("a", 4);
    for (const name of ["1", "2", "3"]) queue.add("a", name);
    expect([queue.room("a"), queue.isHungry("a")]).toEqual([1, false]);
    queue.takeNext();
    queue.takeNext();
    expect(queue.isHungry("a")).toBe(true);
    expect(queue.isHungry("silent")).toBe(false);
  });

  test("is asked for by nobody while five hundred are ready in all", () => {
    const queue = open();
    queue.answer("a", 4);
    for (let held = 0; held < 499; held += 1) queue.add("b", "x");
    expect(queue.isHungry("a")).toBe(true);
    queue.add("b", "x");
    expect(queue.isHungry("a")).toBe(false);
  });

  test("is for a thousand endpoints: who answered least recently is forgotten first", () => {
    const queue = open();
    for (const endpointId of ["a", "b", "a"]) queue.answer(endpointId, 1);
    for (let at = 0; at < 998; at += 1) queue.answer(`e${at}`, 1);
    expect([queue.room("a"), queue.room("b")]).toEqual([2, 1]);
    queue.answer("last", 1);
    expect([queue.room("a"), queue.room("b"), queue.room("last")]).toEqual([2, 0, 1]);
  });

  test("is bounded for each endpoint, and for all together", () => {
    const queue = open();
    queue.answer("a", 5_000);
    expect(queue.room("a")).toBe(500);
    for (const endpointId of ["b", "c"]) {
      for (let held = 0; held < 450; held += 1) queue.add(endpointId, "x");
    }
    expect(queue.room("a")).toBe(100);
  });

  test("is taken in its order for each endpoint, and by turns of the endpoints", () => {
    const queue = open();
    for (const name of ["a1", "a2", "a3", "b1"]) queue.add(name.slice(0, 1), name);
    const names = [1, 2, 3, 4].map(() => queue.takeNext()?.name);
    expect(names).toEqual(["a1", "b1", "a2", "a3"]);
    expect([queue.takeNext(), queue.ready.size]).toEqual([undefined, 0]);
  });

  test("waits where its endpoint has no room, and lets the others pass", () => {
    const queue = open();
    for (const name of ["a1", "b1"]) queue.add(name.slice(0, 1), name);
    const next = queue.takeNext(({ endpointId }) => endpointId === "b");
    expect([next?.name, queue.ready.size]).toEqual(["b1", 1]);
  });

  test("is stale after half a second, whatever came behind it", () => {
    const queue = open();
    queue.add("a", "old");
    queue.advance(400);
    queue.add("a", "young");
    queue.advance(100);
    expect(queue.takeStale().map(({ name }) => name)).toEqual(["old"]);
    expect(takeAllOf(queue.ready, "a").map(({ name }) => name)).toEqual(["young"]);
    expect([queue.ready.size, queue.ready.queues.size]).toEqual([0, 0]);
  });

  test("is stale also where the machine's clock is set back, and counts for no answers of now", () => {
    const queue = open();
    queue.answer("a", 7);
    queue.add("a", "old");
    queue.advance(-3_600_000);
    queue.advance(500);
    expect(queue.room("a")).toBe(0);
    expect(queue.takeStale().map(({ name }) => name)).toEqual(["old"]);
  });
});
