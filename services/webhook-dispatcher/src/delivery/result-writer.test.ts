import { describe, expect, test } from "@jest/globals";
import { createFakeClock, createLog } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { outcomeFromStatus } from "./attempt/attempt-outcome.ts";
import type { EndedAttempt } from "./record-ended-attempts.ts";
import { createResultWriter } from "./result-writer.ts";

const start = new Date("2026-11-21T10:00:00.000Z");
const leaseUntil = new Date(start.getTime() + 30_000);
const log = createLog({ service: "test", level: "silent" });

const createEndedAttempt = (id: string): EndedAttempt => ({
  id,
  eventId: "evt_1",
  endpointId: "whe_1",
  occurredAt: start,
  attempts: 1,
  startedAt: start,
  endedAt: start,
  durationMs: 0,
  sentBody: "{}",
  leaseUntil,
  outcome: outcomeFromStatus(200),
});

/** Creates a writer whose writes finish only when the test lets them. */
const createHeldWriter = () => {
  const batches: string[][] = [];
  const writes: ((lockedAttempts?: readonly EndedAttempt[]) => void)[] = [];
  const writtenCounts: number[] = [];
  const clock = createFakeClock(start);
  const writer = createResultWriter({
    saveBatch: (batch) => {
      batches.push(batch.map(({ id }) => id));
      return new Promise((resolve) =>
        writes.push((lockedAttempts = []) => resolve(lockedAttempts)),
      );
    },
    onWritten: (count) => void writtenCounts.push(count),
    clock,
    log,
  });
  return {
    batches,
    clock,
    writtenCounts,
    write: (id: string) => writer.write(createEndedAttempt(id)),
    writer,
    writes,
  };
};

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("createResultWriter", () => {
  test("writes results that end close together in one batch, and later ones in the next", async () => {
    const { batches, writtenCounts, write, writes } = createHeldWriter();
    const pendingWrites = [write("a")];
    await nextTurn();
    pendingWrites.push(write("b"));
    expect(batches).toEqual([]);
    await waitUntil("a write is in progress", () => writes.length === 1);
    pendingWrites.push(write("c"), write("d"));
    writes[0]?.();
    await waitUntil("the next write is in progress", () => writes.length === 2);
    expect(batches).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    expect(writtenCounts).toEqual([2]);
    writes[1]?.();
    await Promise.all(pendingWrites);
    expect(writtenCounts).toEqual([2, 2]);
  });

  test("writes immediately when a hundred results are waiting", async () => {
    const { batches, write } = createHeldWriter();
    const ids = Array.from({ length: 100 }, (_, index) => String(index));
    ids.slice(1).forEach(write);
    await nextTurn();
    expect(batches).toEqual([]);
    void write("100th");
    await nextTurn();
    expect(batches).toEqual([[...ids.slice(1), "100th"]]);
  });

  test("retries locked results with each batch until they are stored or expire", async () => {
    const { batches, clock, writtenCounts, write, writer, writes } = createHeldWriter();
    const [lockedAttempt, expiredAttempt] = [
      createEndedAttempt("held"),
      createEndedAttempt("worthless"),
    ];
    const pendingWrites = [writer.write(lockedAttempt), writer.write(expiredAttempt)];
    await waitUntil("a write is in progress", () => writes.length === 1);
    writes[0]?.([lockedAttempt, expiredAttempt]);
    pendingWrites.push(write("new"));
    await waitUntil("the next write is in progress", () => writes.length === 2);
    clock.advance(60_000);
    writes[1]?.([expiredAttempt]);
    await Promise.all(pendingWrites);
    expect(batches).toEqual([
      ["held", "worthless"],
      ["new", "held", "worthless"],
    ]);
    expect(writtenCounts).toEqual([0, 3]);
  });

  test("retries a batch until all of its results have expired", async () => {
    const clock = createFakeClock(leaseUntil);
    clock.advance(30_000);
    const batchSizes: number[] = [];
    const writer = createResultWriter({
      saveBatch: async (batch) => {
        batchSizes.push(batch.length);
        if (batchSizes.length === 1) throw new Error("database unavailable");
        return [];
      },
      clock,
      log,
    });
    const laterAttempt = { ...createEndedAttempt("b"), leaseUntil: clock.now() };
    const pendingWrites = Promise.all([
      writer.write(createEndedAttempt("a")),
      writer.write(laterAttempt),
    ]);
    await waitUntil("both results were retried", () => {
      if (batchSizes.length === 1) clock.advance(200);
      return batchSizes.length > 1;
    });
    await pendingWrites;
    expect(batchSizes).toEqual([2, 2]);
  });

  test("waits for an unavailable database, and gives up only when the next attempt may start", async () => {
    const clock = createFakeClock(start);
    let tries = 0;
    let isSaved = false;
    const writer = createResultWriter({
      saveBatch: async () => {
        tries += 1;
        const isDatabaseDown = clock.now().getTime() < leaseUntil.getTime() + 20_000;
        if (isDatabaseDown) throw new Error("database unavailable");
        isSaved = true;
        return [];
      },
      clock,
      log,
    });
    const pendingWrites = writer.write(createEndedAttempt("a"));
    await waitUntil("the write was tried", () => tries > 0);
    const tickInterval = setInterval(() => clock.advance(1_000), 1);
    await pendingWrites;
    expect(isSaved).toBe(true);

    const failingWriter = createResultWriter({
      saveBatch: () => Promise.reject(new Error("database unavailable")),
      clock,
      log,
    });
    await failingWriter.write(createEndedAttempt("b"));
    clearInterval(tickInterval);
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(leaseUntil.getTime() + 28_000);
  });
});
