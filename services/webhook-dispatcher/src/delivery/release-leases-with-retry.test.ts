import { describe, expect, test } from "@jest/globals";
import { createFakeClock, createLog } from "@payment-links/runtime";
import { releaseLeasesWithRetry } from "./release-leases-with-retry.ts";

const start = new Date("2026-11-21T10:00:00.000Z");
const log = createLog({ service: "test", level: "silent" });

/** Leases that are over at as many milliseconds from the start. */
const createLeases = (...ms: number[]) =>
  ms.map((expiresAfterMs) => ({ leaseUntil: new Date(start.getTime() + expiresAfterMs) }));

type Lease = { leaseUntil: Date };

/** Gives leases back by a clock that jumps to what is waited for; answers when each try came. */
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
  test("tries once where all is given back", async () => {
    const leases = createLeases(30_000, 30_000);
    expect(await releaseWithoutWaiting(leases, () => [])).toEqual([
      { atMs: 0, remainingLeases: leases },
    ]);
  });

  test("tries again what somebody else holds, and nothing else, less and less often", async () => {
    const [lockedLease, freeLease] = createLeases(30_000, 30_000);
    if (lockedLease === undefined || freeLease === undefined) throw new Error("there are two");
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

  test("tries all again where the database was away", async () => {
    const leases = createLeases(30_000, 30_000);
    const tries = await releaseWithoutWaiting(leases, (count) => {
      if (count === 1) throw new Error("the database is away");
      return [];
    });
    expect(tries).toEqual([
      { atMs: 0, remainingLeases: leases },
      { atMs: 100, remainingLeases: leases },
    ]);
  });

  // Guards against a stop that waits for a database which stays away.
  test.each([
    ["somebody else holds", (_: number, remainingLeases: readonly Lease[]) => remainingLeases],
    [
      "cannot be written",
      () => {
        throw new Error("the database is away");
      },
    ],
  ])("gives up what %s at the end of each lease", async (_, release) => {
    const [firstLease, lastLease] = createLeases(1_000, 30_000);
    if (firstLease === undefined || lastLease === undefined) throw new Error("there are two");
    const tries = await releaseWithoutWaiting([firstLease, lastLease], release);
    const triesForLease = (lease: Lease) =>
      tries.filter(({ remainingLeases }) => remainingLeases.includes(lease));
    expect(triesForLease(firstLease).map(({ atMs }) => atMs)).toEqual([0, 100, 300, 700]);
    expect(triesForLease(lastLease).at(-1)?.atMs).toBeGreaterThan(27_000);
    expect(triesForLease(lastLease).at(-1)?.atMs).toBeLessThan(30_000);
    expect(tries.length).toBeLessThanOrEqual(20);
  });
});
