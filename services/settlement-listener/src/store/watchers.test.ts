import { beforeEach, describe, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import {
  CheckpointMovedError,
  type Leadership,
  LeadershipLostError,
  haltChain,
  renewLeadership,
  releaseLeadership,
  listWatchers,
  lockLeadership,
  moveCheckpoint,
  readProgress,
  acquireLeadership,
} from "./watchers.ts";

const rig = useRig(createRig);

let chainId: string;
beforeEach(() => {
  chainId = newId("evt");
});

const leaseMs = 10_000;
const report = { state: "watching", reason: null, head: 12 } as const;

const tryAcquire = (): Promise<Leadership | undefined> => {
  const now = rig.clock.now();
  return acquireLeadership(rig.pool, { chainId, now, until: new Date(now.getTime() + leaseMs) });
};

const acquire = async (): Promise<Leadership> => {
  const leadership = await tryAcquire();
  if (leadership === undefined) throw new Error("the leadership was not acquired");
  return leadership;
};

const renew = (leadership: Leadership) =>
  renewLeadership(rig.pool, leadership, {
    until: new Date(rig.clock.now().getTime() + leaseMs),
    report,
  });

const notStarted = { scannedTo: null, finalizedTo: null };

const moveCheckpointTo = async (leadership: Leadership, scannedTo: number) => {
  const from = await readProgress(rig.pool, chainId);
  await transact(rig.pool, (tx) =>
    moveCheckpoint(tx, leadership, from, { scannedTo, finalizedTo: 0 }),
  );
};

describe("leadership of a chain", () => {
  test("belongs to one process until its lease has expired, to the millisecond", async () => {
    const firstLeadership = await acquire();
    expect(await tryAcquire()).toBeUndefined();
    rig.clock.advance(leaseMs - 1);
    expect(await tryAcquire()).toBeUndefined();
    rig.clock.advance(1);
    expect(BigInt((await acquire()).token)).toBeGreaterThan(BigInt(firstLeadership.token));
  });

  test("is acquired by exactly one of many processes that try at the same time", async () => {
    for (let round = 0; round < 5; round += 1) {
      const leaderships = await Promise.all(Array.from({ length: 10 }, tryAcquire));
      expect(leaderships.filter((leadership) => leadership !== undefined)).toHaveLength(1);
      rig.clock.advance(leaseMs);
    }
  });

  test("lasts while it is renewed, and is free immediately after its release", async () => {
    const leadership = await acquire();
    rig.clock.advance(leaseMs - 1);
    expect(await renew(leadership)).toBe(true);
    rig.clock.advance(leaseMs - 1);
    expect(await tryAcquire()).toBeUndefined();
    await releaseLeadership(rig.pool, leadership, rig.clock.now());
    expect(await tryAcquire()).toBeDefined();
  });

  // Guards against a leader that paused between reading and writing, and resumed after another
  // process took over.
  test("allows no writes after it was lost, however late the former leader resumes", async () => {
    const oldLeadership = await acquire();
    await moveCheckpointTo(oldLeadership, 5);
    rig.clock.advance(leaseMs);
    const nextLeadership = await acquire();
    await expect(moveCheckpointTo(oldLeadership, 6)).rejects.toThrow(LeadershipLostError);
    expect((await readProgress(rig.pool, chainId)).scannedTo).toBe(5);
    expect(await renew(oldLeadership)).toBe(false);
    await releaseLeadership(rig.pool, oldLeadership, rig.clock.now());
    expect(await tryAcquire()).toBeUndefined();
    await moveCheckpointTo(nextLeadership, 7);
    expect((await readProgress(rig.pool, chainId)).scannedTo).toBe(7);
  });

  // Guards against a commit that takes effect after its caller gave up waiting for it.
  test("moves the checkpoint only from where it was read", async () => {
    const leadership = await acquire();
    await moveCheckpointTo(leadership, 5);
    const earlierProgress = await readProgress(rig.pool, chainId);
    await moveCheckpointTo(leadership, 6);
    const to = { scannedTo: 5, finalizedTo: 4 };
    for (const from of [earlierProgress, notStarted, { scannedTo: 6, finalizedTo: 1 }]) {
      const checkpointMove = transact(rig.pool, (tx) => moveCheckpoint(tx, leadership, from, to));
      await expect(checkpointMove).rejects.toThrow(CheckpointMovedError);
    }
    const { finalizedTo, scannedTo } = await readProgress(rig.pool, chainId);
    expect({ finalizedTo, scannedTo }).toEqual({ finalizedTo: 0, scannedTo: 6 });
  });

  test("cannot change while its leader writes: the successor waits for the commit", async () => {
    const oldLeadership = await acquire();
    rig.clock.advance(leaseMs);
    const order: string[] = [];
    const [rowLocked, acquiringStarted] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ];
    const writeTransaction = transact(rig.pool, async (tx) => {
      await lockLeadership(tx, oldLeadership);
      rowLocked.resolve();
      await acquiringStarted.promise;
      await moveCheckpoint(tx, oldLeadership, notStarted, { scannedTo: 1, finalizedTo: 1 });
      order.push("written");
    });
    await rowLocked.promise;
    const acquired = acquire().then(() => void order.push("taken"));
    acquiringStarted.resolve();
    await Promise.all([writeTransaction, acquired]);
    expect(order).toEqual(["written", "taken"]);
  });

  test("shows operators the leader's last report, and a halt stays with the chain", async () => {
    const leadership = await acquire();
    await renew(leadership);
    await transact(rig.pool, (tx) => haltChain(tx, chainId, "a reorg too deep"));
    const row = (await listWatchers(rig.pool)).find((watcher) => watcher.chainId === chainId);
    expect(row).toMatchObject({ ...report, haltedReason: "a reorg too deep", scannedTo: null });
  });
});
