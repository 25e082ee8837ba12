import { describe, expect, test } from "@jest/globals";
import { createFakeClock, createLog } from "@payment-links/runtime";
import { releaseLeasesWithRetry } from "./release-leases-with-retry.ts";

const start = new Date("2026-11-21T10:00:00.000Z");
const log = createLog({ service: "test", level: "silent" });

/** Creates leases that expire this many milliseconds after the start. */
const createLeases = (...ms: number[]) =>
  ms.map((expiresAfterMs) => ({ leaseUntil: new Date(start.getTime() + expiresAfterMs) }));

type Lease = { leaseUntil: Date };

/** Releases leases with a clock that skips waits. Returns the times of all tries. */
const releaseWithoutWaiting = async (
  leases: readonly Lease[],
  release: (tries: number, remainingLeases: readonly Lease[]) => readonly Lease[],
) => {
  const clock = createFakeClock(start);
  const nowMs = () => clock.now().getTime();
  const until = async (instant: Date) => clock.advance(instant.getTime() - nowMs());
  const tries: { atMs: number; remainingLeases: readonly Lease[] }[] = [];
  const options = {
    releaseLeases: async (remainingLeases: readonly Lease[]) => {
      tries.push({ atMs: nowMs() - start.getTime(), remainingLeases });
      return release(tries.length, remainingLeases);
    },
    clock: { ...clock, sleepUntil: until },
    log,
  };
  await releaseLeasesWithRetry(options, leases);
  return tries;
};

describe("releaseLeasesWithRetry", () => {
  test("tries once when all leases are released", async () => {
    const leases = createLeases(30_000, 30_000);
    expect(await releaseWithoutWaiting(leases, () => [])).toEqual([
      { atMs: 0, remainingLeases: leases },
    ]);
  });

  test("retries only locked leases, with increasing waits", async () => {
    const [lockedLease, freeLease] = createLeases(30_000, 30_000);
    if (lockedLease === undefined || freeLease === undefined) throw new Error("missing lease");
    const tries = await releaseWithoutWaiting([lockedLease, freeLease], (count) =>
      count < 4 ? [lockedLease] : [],
    );
    expect(tries).toEqual([
      { atMs: 0, remainingLeases: [lockedLease, freeLease] },
      { atMs: 100, remainingLeases: [lockedLease] },
      { atMs: 300, remainingLeases: [lockedLease] },
      { atMs: 700, remainingLeases: [lockedLease] },
    ]);
  });

  test("retries all leases when the database was unavailable", async () => {
    const leases = createLeases(30_000, 30_000);
    const tries = await releaseWithoutWaiting(leases, (count) => {
      if (count === 1) throw new Error("database unavailable");
      return [];
    });
    expect(tries).toEqual([
      { atMs: 0, remainingLeases: leases },
      { atMs: 100, remainingLeases: leases },
    ]);
  });

  // Guards against a stop that waits forever for an unavailable database.
  test.each([
    [
      "are locked by other transactions",
      (_: number, remainingLeases: readonly Lease[]) => remainingLeases,
    ],
    [
      "cannot be written",
      () => {
        throw new Error("database unavailable");
      },
    ],
  ])("gives up on leases that %s when each of them expires", async (_, release) => {
    const [firstLease, lastLease] = createLeases(1_000, 30_000);
    if (firstLease === undefined || lastLease === undefined) throw new Error("missing lease");
    const tries = await releaseWithoutWaiting([firstLease, lastLease], release);
    const triesForLease = (lease: Lease) =>
      tries.filter(({ remainingLeases }) => remainingLeases.includes(lease));
    expect(triesForLease(firstLease).map(({ atMs }) => atMs)).toEqual([0, 100, 300, 700]);
    expect(triesForLease(lastLease).at(-1)?.atMs).toBeGreaterThan(27_000);
    expect(triesForLease(lastLease).at(-1)?.atMs).toBeLessThan(30_000);
    expect(tries.length).toBeLessThanOrEqual(20);
  });
});
