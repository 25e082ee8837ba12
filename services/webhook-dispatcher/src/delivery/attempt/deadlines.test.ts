import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "@jest/globals";
import { createHeldClock, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { createDeadlines } from "./deadlines.ts";

const start = new Date("2026-11-21T10:00:00.000Z");

const open = () => {
  const clock = createHeldClock(start);
  const deadlines = createDeadlines(clock, 10_000);
  const expired: string[] = [];
  const begin = (name: string) => deadlines.begin(() => void expired.push(name));
  return { clock, expired, begin };
};

describe("deadlines", () => {
  test("each expires at its own time, and one that has ended never does", async () => {
    const { clock, expired, begin } = open();
    const first = begin("first");
    expect(first.at).toEqual(new Date(start.getTime() + 10_000));
    clock.advance(3_000);
    const second = begin("second");
    begin("third");
    first.end();
    clock.advance(9_999);
    second.end();
    expect(expired).toEqual([]);
    clock.advance(1);
    await waitUntil("the third has expired", () => expired.length > 0);
    expect(expired).toEqual(["third"]);
  });

  test("go on after a time with none", async () => {
    const { clock, expired, begin } = open();
    begin("early").end();
    clock.advance(60_000);
    begin("late");
    clock.advance(10_000);
    await waitUntil("it has expired", () => expired.length > 0);
    expect(expired).toEqual(["late"]);
  });

  test("that fall together all expire", async () => {
    const { clock, expired, begin } = open();
    for (const name of ["a", "b", "c"]) begin(name);
    clock.advance(10_000);
    await waitUntil("all have expired", () => expired.length === 3);
  });

  test("come no later where the machine's clock is set back", async () => {
    const { clock, expired, begin } = open();
    begin("first");
    clock.advance(4_000);
    begin("second");
    clock.setBack(3_600_000);
    clock.advance(6_000);
    await waitUntil("the first has expired", () => expired.length > 0);
    expect(expired).toEqual(["first"]);
    clock.advance(4_000);
    await waitUntil("the second has expired", () => expired.length > 1);
  });

  test("are kept by what came while the process was held up", async () => {
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
    // From here on, timers run before anything that arrives is handled.
    await setImmediate();
    const expired: string[] = [];
    const { at, end } = createDeadlines(systemClock, 20).begin(() => void expired.push("first"));
    const answered = once(worker, "message").then(end);
    Atomics.store(turn, 0, 1);
    Atomics.notify(turn, 0);
    Atomics.wait(turn, 0, 1);
    while (systemClock.now().getTime() < at.getTime() + 30) continue;
    await answered;
    await worker.terminate();
    expect(expired).toEqual([]);
  });
});
