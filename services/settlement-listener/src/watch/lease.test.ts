import { afterEach, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { newId } from "@payment-links/contracts";
import { type Clock, afterMs, createHeldClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { listWatchers, lockLead, takeLead } from "../store/watchers.ts";
import { openRig } from "../testing/open-rig.ts";
import { type Lease, createShare, startLease } from "./lease.ts";

const rig = useRig(openRig);
const leases: Lease[] = [];
afterEach(async () => {
  for (const lease of leases.splice(0)) await lease.stop();
});

const stand = (chainId: string, share = createShare(10), clock: Clock = rig.clock): Lease => {
  const { pool } = rig;
  const report = () => ({ state: "watching", reason: null, head: null }) as const;
  const { log } = rig.ground;
  const lease = startLease({ chainId, pool, clock, log, report, share, onChange: () => {} });
  leases.push(lease);
  return lease;
};

const ledCount = (some: readonly Lease[]) => some.filter((one) => one.lead() !== undefined).length;

/** The loops look once more. */
const lookAgain = async () => {
  rig.clock.advance(3_000);
  for (let turn = 0; turn < 10; turn += 1) await listWatchers(rig.pool);
};

// Guards against followers that queue up for the row which the leader's every transaction locks.
test("who asks for a chain that another leads waits for nobody, and locks nothing", async () => {
  const chainId = newId("evt");
  const [now, until] = [rig.clock.now(), afterMs(rig.clock, 60_000)];
  const lead = await takeLead(rig.pool, { chainId, now, until });
  if (lead === undefined) throw new Error("nobody else stands");
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const leading = transact(rig.pool, async (tx) => {
    await lockLead(tx, lead);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  // One that waited would fail after the five seconds of a statement.
  expect(await takeLead(rig.pool, { chainId, now, until })).toBeUndefined();
  released.resolve();
  await leading;
});

test("a process that leads its share lets others go first, and takes what nobody wants", async () => {
  const chainIds = Array.from({ length: 6 }, () => newId("evt"));
  const share = createShare(4);
  const first = chainIds.map((chainId) => stand(chainId, share));
  await waitUntil("it leads its share", () => ledCount(first) === 4);
  await lookAgain();
  expect(ledCount(first)).toBe(4);
  const second = chainIds.map((chainId) => stand(chainId));
  await waitUntil("another leads the rest", () => ledCount(second) === 2);
  for (const lease of second) await lease.stop();
  await waitUntil("nobody wants them", () => {
    rig.clock.advance(1_000);
    return ledCount(first) === 6;
  });
});

test("a chain whose last leader's clock was hours ahead is led by another before long, and a live one's is not", async () => {
  const chainId = newId("evt");
  const ahead = createHeldClock(afterMs(rig.clock, 5 * 60 * 60_000));
  const first = stand(chainId, createShare(10), ahead);
  await waitUntil("it leads", () => first.lead() !== undefined);
  const second = stand(chainId);
  for (let looks = 0; looks < 20; looks += 1) {
    ahead.advance(3_000);
    await lookAgain();
  }
  expect([first.lead(), second.lead()]).toEqual([expect.anything(), undefined]);
  await first.stop();
  await waitUntil("the other one leads", () => {
    rig.clock.advance(1_000);
    return second.lead() !== undefined;
  });
});
