import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "@jest/globals";
import { createFakeClock, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { createDeadlines } from "./deadlines.ts";

const start = new Date("2026-11-21T10:00:00.000Z");

const createTestDeadlines = () => {
  const clock = createFakeClock(start);
  const deadlines = createDeadlines(clock, 10_000);
  const expired: string[] = [];
  const startDeadline = (name: string) => deadlines.start(() => void expired.push(name));
  return { clock, expired, startDeadline };
};

describe("deadlines", () => {
  test("expire each at their own time, unless canceled", async () => {
    const { clock, expired, startDeadline } = createTestDeadlines();
    const first = startDeadline("first");
    expect(first.expiresAt).toEqual(new Date(start.getTime() + 10_000));
    clock.advance(3_000);
    const second = startDeadline("second");
    startDeadline("third");
    first.cancel();
    clock.advance(9_999);
    second.cancel();
    expect(expired).toEqual([]);
    clock.advance(1);
    await waitUntil("the third has expired", () => expired.length > 0);
    expect(expired).toEqual(["third"]);
  });

  test("still expire after a time without any", async () => {
    const { clock, expired, startDeadline } = createTestDeadlines();
    startDeadline("early").cancel();
    clock.advance(60_000);
    startDeadline("late");
    clock.advance(10_000);
    await waitUntil("the deadline has expired", () => expired.length > 0);
    expect(expired).toEqual(["late"]);
  });

  test("all expire when they are due at the same time", async () => {
    const { clock, expired, startDeadline } = createTestDeadlines();
    for (const name of ["a", "b", "c"]) startDeadline(name);
    clock.advance(10_000);
    await waitUntil("all have expired", () => expired.length === 3);
  });

  test("are not delayed when the system clock is set back", async () => {
    const { clock, expired, startDeadline } = createTestDeadlines();
    startDeadline("first");
    clock.advance(4_000);
    startDeadline("second");
    clock.setBack(3_600_000);
    clock.advance(6_000);
    await waitUntil("the first has expired", () => expired.length > 0);
    expect(expired).toEqual(["first"]);
    clock.advance(4_000);
    await waitUntil("the second has expired", () => expired.length > 1);
  });

  test("do not expire when the response arrived while the process was blocked", async () => {
    const turn = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(
      `const { parentPort, workerData: turn } = require("node:worker_threads");
      Atomics.wait(turn, 0, 0);
      parentPort.postMessage("answer");
      Atomics.store(turn, 0, 2);
      Atomics.notify(turn, 0);`,
      { eval: true, workerData: turn },
    );
    await once(worker, "online");
    // After this, timers run before incoming messages are handled.
    await setImmediate();
    const expired: string[] = [];
    const { expiresAt, cancel } = createDeadlines(systemClock, 20).start(
      () => void expired.push("first"),
    );
    const responded = once(worker, "message").then(cancel);
    Atomics.store(turn, 0, 1);
    Atomics.notify(turn, 0);
    Atomics.wait(turn, 0, 1);
    while (systemClock.now().getTime() < expiresAt.getTime() + 30) continue;
    await responded;
    await worker.terminate();
    expect(expired).toEqual([]);
  });
});
