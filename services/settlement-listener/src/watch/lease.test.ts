import { afterEach, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { newId } from "@payment-links/contracts";
import { type Clock, afterMs, createFakeClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { listWatchers, lockLeadership, acquireLeadership } from "../store/watchers.ts";
import { createRig } from "../testing/create-rig.ts";
import { type Lease, createLeadershipQuota, startLease } from "./lease.ts";

const rig = useRig(createRig);
const leases: Lease[] = [];
afterEach(async () => {
  for (const lease of leases.splice(0)) await lease.stop();
});

const startTestLease = (
  chainId: string,
  quota = createLeadershipQuota(10),
  clock: Clock = rig.clock,
): Lease => {
  const { pool } = rig;
  const report = () => ({ state: "watching", reason: null, head: null }) as const;
  const { log } = rig.context;
  const lease = startLease({ chainId, pool, clock, log, report, quota, onChange: () => {} });
  leases.push(lease);
  return lease;
};

const countLed = (candidateLeases: readonly Lease[]) =>
  candidateLeases.filter((lease) => lease.getLeadership() !== undefined).length;

/** Advances the clock so that the lease loops run again. */
const runLeaseLoops = async () => {
  rig.clock.advance(3_000);
  for (let round = 0; round < 10; round += 1) await listWatchers(rig.pool);
};

// Guards against followers that queue for the chain's row, which every transaction of the leader
// locks.
test("tries to acquire a led chain without waiting or locking", async () => {
  const chainId = newId("evt");
  const [now, until] = [rig.clock.now(), afterMs(rig.clock, 60_000)];
  const leadership = await acquireLeadership(rig.pool, { chainId, now, until });
  if (leadership === undefined) throw new Error("the leadership was not acquired");
  const [rowLocked, lockReleased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const leaderTransaction = transact(rig.pool, async (tx) => {
    await lockLeadership(tx, leadership);
    rowLocked.resolve();
    await lockReleased.promise;
  });
  await rowLocked.promise;
  // If the attempt had to wait for the lock, it would fail after the statement timeout.
  expect(await acquireLeadership(rig.pool, { chainId, now, until })).toBeUndefined();
  lockReleased.resolve();
  await leaderTransaction;
});

test("lets other processes go first once a process leads its share, and takes chains that no other process takes", async () => {
  const chainIds = Array.from({ length: 6 }, () => newId("evt"));
  const quota = createLeadershipQuota(4);
  const firstLeases = chainIds.map((chainId) => startTestLease(chainId, quota));
  await waitUntil("the first process leads its share", () => countLed(firstLeases) === 4);
  await runLeaseLoops();
  expect(countLed(firstLeases)).toBe(4);
  const secondLeases = chainIds.map((chainId) => startTestLease(chainId));
  await waitUntil("the second process leads the rest", () => countLed(secondLeases) === 2);
  for (const lease of secondLeases) await lease.stop();
  await waitUntil("the first process leads all chains", () => {
    rig.clock.advance(1_000);
    return countLed(firstLeases) === 6;
  });
});

test("replaces a stopped leader whose clock was hours ahead within a short time, but not a running one", async () => {
  const chainId = newId("evt");
  const aheadClock = createFakeClock(afterMs(rig.clock, 5 * 60 * 60_000));
  const firstLease = startTestLease(chainId, createLeadershipQuota(10), aheadClock);
  await waitUntil(
    "the first process is the leader",
    () => firstLease.getLeadership() !== undefined,
  );
  const secondLease = startTestLease(chainId);
  for (let round = 0; round < 20; round += 1) {
    aheadClock.advance(3_000);
    await runLeaseLoops();
  }
  expect([firstLease.getLeadership(), secondLease.getLeadership()]).toEqual([
    expect.anything(),
    undefined,
  ]);
  await firstLease.stop();
  await waitUntil("the second process is the leader", () => {
    rig.clock.advance(1_000);
    return secondLease.getLeadership() !== undefined;
  });
});
