import { describe, expect, test } from "@jest/globals";
import { createHeldClock, openLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { outcomeOfStatus } from "./attempt/attempt-outcome.ts";
import type { EndedAttempt } from "./end-attempts.ts";
import { createResultWriter } from "./result-writer.ts";

const start = new Date("2026-11-21T10:00:00.000Z");
const leaseUntil = new Date(start.getTime() + 30_000);
const log = openLog({ service: "test", level: "silent" });

const ended = (deliveryId: string): EndedAttempt => ({
  deliveryId,
  eventId: "evt_1",
  endpointId: "whe_1",
  occurredAt: start,
  attempts: 1,
  startedAt: start,
  endedAt: start,
  durationMs: 0,
  leaseUntil,
  outcome: outcomeOfStatus(200),
});

/** A writer whose writes each end when the test says so. */
const heldWrites = () => {
  const batches: string[][] = [];
  const writes: ((held?: readonly EndedAttempt[]) => void)[] = [];
  const told: number[] = [];
  const clock = createHeldClock(start);
  const writer = createResultWriter({
    keep: (batch) => {
      batches.push(batch.map(({ deliveryId }) => deliveryId));
      return new Promise((resolve) => writes.push((held = []) => resolve(held)));
    },
    written: (count) => void told.push(count),
    clock,
    log,
  });
  return { batches, clock, told, write: (id: string) => writer.write(ended(id)), writer, writes };
};

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("createResultWriter", () => {
  test("writes together what ends soon after one another, and what ends meanwhile in the next write", async () => {
    const { batches, told, write, writes } = heldWrites();
    const written = [write("a")];
    await nextTurn();
    written.push(write("b"));
    expect(batches).toEqual([]);
    await waitUntil("a write is under way", () => writes.length === 1);
    written.push(write("c"), write("d"));
    writes[0]?.();
    await waitUntil("the next write is under way", () => writes.length === 2);
    expect(batches).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    expect(told).toEqual([2]);
    writes[1]?.();
    await Promise.all(written);
    expect(told).toEqual([2, 2]);
  });

  test("under load a hundred are written at once, however soon they came", async () => {
    const { batches, write } = heldWrites();
    const ids = Array.from({ length: 100 }, (_, at) => String(at));
    ids.slice(1).forEach(write);
    await nextTurn();
    expect(batches).toEqual([]);
    void write("100th");
    await nextTurn();
    expect(batches).toEqual([[...ids.slice(1), "100th"]]);
  });

  test("takes along what somebody else holds until it is stored, or until that is worth nothing", async () => {
    const { batches, clock, told, write, writer, writes } = heldWrites();
    const [one, other] = [ended("held"), ended("worthless")];
    const written = [writer.write(one), writer.write(other)];
    await waitUntil("a write is under way", () => writes.length === 1);
    writes[0]?.([one, other]);
    written.push(write("new"));
    await waitUntil("the next write is under way", () => writes.length === 2);
    clock.advance(60_000);
    writes[1]?.([other]);
    await Promise.all(written);
    expect(batches).toEqual([
      ["held", "worthless"],
      ["new", "held", "worthless"],
    ]);
    expect(told).toEqual([0, 3]);
  });

  test("tries a batch again as long as any of its results is worth something", async () => {
    const clock = createHeldClock(leaseUntil);
    clock.advance(30_000);
    const tried: number[] = [];
    const writer = createResultWriter({
      keep: async (batch) => {
        tried.push(batch.length);
        if (tried.length === 1) throw new Error("the database is away");
        return [];
      },
      clock,
      log,
    });
    const later = { ...ended("b"), leaseUntil: clock.now() };
    const written = Promise.all([writer.write(ended("a")), writer.write(later)]);
    await waitUntil("both were tried again", () => {
      if (tried.length === 1) clock.advance(200);
      return tried.length > 1;
    });
    await written;
    expect(tried).toEqual([2, 2]);
  });

  test("waits for a database that is away, and gives up only when the next attempt may begin", async () => {
    const clock = createHeldClock(start);
    let tries = 0;
    let isKept = false;
    const writer = createResultWriter({
      keep: async () => {
        tries += 1;
        const isAway = clock.now().getTime() < leaseUntil.getTime() + 20_000;
        if (isAway) throw new Error("the database is away");
        isKept = true;
        return [];
      },
      clock,
      log,
    });
    const written = writer.write(ended("a"));
    await waitUntil("it was tried", () => tries > 0);
    const ticking = setInterval(() => clock.advance(1_000), 1);
    await written;
    expect(isKept).toBe(true);

    const gone = createResultWriter({
      keep: () => Promise.reject(new Error("the database is away")),
      clock,
      log,
    });
    await gone.write(ended("b"));
    clearInterval(ticking);
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(leaseUntil.getTime() + 28_000);
  });
});
