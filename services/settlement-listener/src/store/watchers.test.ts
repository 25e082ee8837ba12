import { beforeEach, describe, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import {
  CheckpointMovedError,
  type Lead,
  LeadLostError,
  haltChain,
  renewLead,
  releaseLead,
  listWatchers,
  lockLead,
  moveCheckpoint,
  readProgress,
  takeLead,
} from "./watchers.ts";

const rig = useRig(openRig);

let chainId: string;
beforeEach(() => {
  chainId = newId("evt");
});

const leaseMs = 10_000;
const report = { state: "watching", reason: null, head: 12 } as const;

const take = (): Promise<Lead | undefined> => {
  const now = rig.clock.now();
  return takeLead(rig.pool, { chainId, now, until: new Date(now.getTime() + leaseMs) });
};

const mustTake = async (): Promise<Lead> => {
  const lead = await take();
  if (lead === undefined) throw new Error("somebody else leads");
  return lead;
};

const keep = (lead: Lead) =>
  renewLead(rig.pool, lead, { until: new Date(rig.clock.now().getTime() + leaseMs), report });

const notBegun = { scannedTo: null, finalizedTo: null };

const moveTo = async (lead: Lead, scannedTo: number) => {
  const from = await readProgress(rig.pool, chainId);
  await transact(rig.pool, (tx) => moveCheckpoint(tx, lead, from, { scannedTo, finalizedTo: 0 }));
};

describe("a chain's lead", () => {
  test("is one process's until its lease has run out, to the millisecond", async () => {
    const first = await mustTake();
    expect(await take()).toBeUndefined();
    rig.clock.advance(leaseMs - 1);
    expect(await take()).toBeUndefined();
    rig.clock.advance(1);
    expect(BigInt((await mustTake()).token)).toBeGreaterThan(BigInt(first.token));
  });

  test("is taken by exactly one of many who stand for it at once", async () => {
    for (let round = 0; round < 5; round += 1) {
      const leads = await Promise.all(Array.from({ length: 10 }, take));
      expect(leads.filter((lead) => lead !== undefined)).toHaveLength(1);
      rig.clock.advance(leaseMs);
    }
  });

  test("lasts while it is prolonged, and is free at once when it is given up", async () => {
    const lead = await mustTake();
    rig.clock.advance(leaseMs - 1);
    expect(await keep(lead)).toBe(true);
    rig.clock.advance(leaseMs - 1);
    expect(await take()).toBeUndefined();
    await releaseLead(rig.pool, lead, rig.clock.now());
    expect(await take()).toBeDefined();
  });

  // Guards against a leader that was paused between reading and writing, and woke up after another
  // one had taken over.
  test("that was lost writes nothing, however late the loser wakes up", async () => {
    const old = await mustTake();
    await moveTo(old, 5);
    rig.clock.advance(leaseMs);
    const next = await mustTake();
    await expect(moveTo(old, 6)).rejects.toThrow(LeadLostError);
    expect((await readProgress(rig.pool, chainId)).scannedTo).toBe(5);
    expect(await keep(old)).toBe(false);
    await releaseLead(rig.pool, old, rig.clock.now());
    expect(await take()).toBeUndefined();
    await moveTo(next, 7);
    expect((await readProgress(rig.pool, chainId)).scannedTo).toBe(7);
  });

  // Guards against a commit whose answer came too late, and that took effect after all.
  test("moves its checkpoint only from where it was read", async () => {
    const lead = await mustTake();
    await moveTo(lead, 5);
    const read = await readProgress(rig.pool, chainId);
    await moveTo(lead, 6);
    const to = { scannedTo: 5, finalizedTo: 4 };
    for (const from of [read, notBegun, { scannedTo: 6, finalizedTo: 1 }]) {
      const moving = transact(rig.pool, (tx) => moveCheckpoint(tx, lead, from, to));
      await expect(moving).rejects.toThrow(CheckpointMovedError);
    }
    const { finalizedTo, scannedTo } = await readProgress(rig.pool, chainId);
    expect({ finalizedTo, scannedTo }).toEqual({ finalizedTo: 0, scannedTo: 6 });
  });

  test("cannot change hands while its leader writes: the successor waits for the commit", async () => {
    const old = await mustTake();
    rig.clock.advance(leaseMs);
    const order: string[] = [];
    const [locked, taking] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const writing = transact(rig.pool, async (tx) => {
      await lockLead(tx, old);
      locked.resolve();
      await taking.promise;
      await moveCheckpoint(tx, old, notBegun, { scannedTo: 1, finalizedTo: 1 });
      order.push("written");
    });
    await locked.promise;
    const taken = mustTake().then(() => void order.push("taken"));
    taking.resolve();
    await Promise.all([writing, taken]);
    expect(order).toEqual(["written", "taken"]);
  });

  test("carries the leader's last word to operators, and a halt stays with the chain", async () => {
    const lead = await mustTake();
    await keep(lead);
    await transact(rig.pool, (tx) => haltChain(tx, chainId, "a reorg too deep"));
    const row = (await listWatchers(rig.pool)).find((one) => one.chainId === chainId);
    expect(row).toMatchObject({ ...report, haltedReason: "a reorg too deep", scannedTo: null });
  });
});
