import { describe, expect, test } from "@jest/globals";
import { createHeldClock } from "@payment-links/runtime";
import { createAnswerRates } from "./answer-rates.ts";
import { createReadyQueue } from "./ready-queue.ts";

const place = (endpointId: string) => ({ endpointId, userId: "user_1", origin: "https://x.com" });
const item = (endpointId: string, name: string) => ({ place: place(endpointId), name });
const everywhere = () => true;

const open = () => {
  const clock = createHeldClock(new Date("2026-11-21T10:00:00.000Z"));
  const rates = createAnswerRates(clock);
  const queue = createReadyQueue<ReturnType<typeof item>>(clock, rates);
  const answer = (endpointId: string, count: number) => {
    for (let told = 0; told < count; told += 1) rates.answered(endpointId);
  };
  return { clock, queue, answer };
};

describe("what is leased ahead", () => {
  test("is as much as an endpoint answered lately; nothing for one that answers nothing", () => {
    const { clock, queue, answer } = open();
    expect(queue.room("a")).toBe(0);
    answer("a", 7);
    expect([queue.room("a"), queue.room("b")]).toEqual([7, 0]);
    clock.advance(200);
    answer("a", 2);
    expect(queue.room("a")).toBe(7);
    clock.advance(200);
    expect(queue.room("a")).toBe(2);
    clock.advance(400);
    expect(queue.room("a")).toBe(0);
  });

  test("counts against what may be, and is asked for again once it has run down to a half", () => {
    const { queue, answer } = open();
    answer("a", 4);
    for (const name of ["1", "2", "3"]) queue.add(item("a", name));
    expect([queue.room("a"), queue.hungry()]).toEqual([1, []]);
    queue.takeNext(everywhere);
    queue.takeNext(everywhere);
    expect(queue.hungry()).toEqual(["a"]);
  });

  test("is bounded for each endpoint, and for all together", () => {
    const { queue, answer } = open();
    answer("a", 5_000);
    expect(queue.room("a")).toBe(500);
    for (const endpointId of ["b", "c"]) {
      for (let held = 0; held < 450; held += 1) queue.add(item(endpointId, "x"));
    }
    expect(queue.room("a")).toBe(100);
  });

  test("is taken in its order for each endpoint, and by turns of the endpoints", () => {
    const { queue } = open();
    for (const name of ["a1", "a2", "a3", "b1"]) queue.add(item(name.slice(0, 1), name));
    const names = [1, 2, 3, 4].map(() => queue.takeNext(everywhere)?.name);
    expect(names).toEqual(["a1", "b1", "a2", "a3"]);
    expect([queue.takeNext(everywhere), queue.size()]).toEqual([undefined, 0]);
  });

  test("waits where its endpoint has no room, and lets the others pass", () => {
    const { queue } = open();
    for (const name of ["a1", "b1"]) queue.add(item(name.slice(0, 1), name));
    const next = queue.takeNext(({ endpointId }) => endpointId === "b");
    expect([next?.name, queue.size()]).toEqual(["b1", 1]);
  });

  test("is stale after half a second, whatever came behind it", () => {
    const { clock, queue } = open();
    queue.add(item("a", "old"));
    clock.advance(400);
    queue.add(item("a", "young"));
    clock.advance(100);
    expect(queue.takeStale().map(({ name }) => name)).toEqual(["old"]);
    expect(queue.takeAll("a").map(({ name }) => name)).toEqual(["young"]);
    expect(queue.size()).toBe(0);
  });
});
