import { expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { endpointsPath, openRig } from "../testing/open-rig.ts";
import { sampleDelivery } from "../testing/samples.ts";
import { claimDeliveries, insertDeliveries } from "../store/deliveries.ts";
import { interruptedOutcome, outcomeOfStatus } from "./attempt/attempt-outcome.ts";
import { type EndedAttempt, endAttempts } from "./end-attempts.ts";

const rig = useRig(openRig);
const leaseMs = 30_000;
const spread = { schedule: [0, 30_000, 300_000], random: () => 0 };

const after = (ms: number): Date => new Date(rig.clock.now().getTime() + ms);

/** A new endpoint, and its one delivery whose first attempt is under way and then ends. */
const openOne = async () => {
  const person = rig.signIn();
  const endpoint = await rig.register(person, "https://shop.com/");
  const now = rig.clock.now();
  const leaseUntil = after(leaseMs);
  const delivery = sampleDelivery(endpoint.id, now, { leaseUntil });
  await rig.pool.transaction((tx) => insertDeliveries(tx, [delivery]));
  const ended: EndedAttempt = {
    deliveryId: delivery.id,
    eventId: delivery.eventId,
    endpointId: endpoint.id,
    occurredAt: now,
    attempts: 1,
    startedAt: now,
    endedAt: now,
    durationMs: 5,
    leaseUntil,
    outcome: interruptedOutcome,
  };
  const shown = async () => {
    const { data } = (await rig.call(person, "GET", endpointsPath)).json;
    return data;
  };
  const readLog = () => rig.readLog(person, endpoint);
  return { endpoint, ended, shown, readLog };
};

const end = (batch: readonly EndedAttempt[]) =>
  rig.pool.transaction((tx) => endAttempts(tx, batch, spread));

test("a failure whose attempt somebody else has called interrupted is counted once", async () => {
  const { ended, shown } = await openOne();
  expect(await end([ended])).toEqual([]);
  const interrupted = await shown();
  expect(interrupted).toMatchObject([{ lastOutcome: "Failed", consecutiveFailures: 1 }]);

  // Whoever made the attempt could not write what came of it before.
  expect(await end([{ ...ended, outcome: outcomeOfStatus(500) }])).toEqual([]);
  expect(await shown()).toEqual(interrupted);

  expect(await end([{ ...ended, outcome: outcomeOfStatus(200) }])).toEqual([]);
  expect(await shown()).toMatchObject([{ lastOutcome: "Delivered", consecutiveFailures: 0 }]);
});

// Guards against a retry that comes too soon, and a result that is not its attempt's: where Postgres
// took no writes for a while, the failure of an attempt may wait beside that of the next.
test.each([
  ["is tried again", 503, { httpStatus: 503, status: "Pending" }, { delivered: 0, failed: 2 }],
  ["is over", 200, { httpStatus: 200, status: "Delivered" }, { delivered: 1, failed: 1 }],
])(
  "an attempt after which its delivery %s goes by its own result, beside a late one of the attempt before",
  async (_, status, entry, counted) => {
    const { endpoint, ended, shown, readLog } = await openOne();
    await end([ended]);
    rig.clock.advance(leaseMs + 1_000);
    const [second] = await rig.pool.transaction((tx) =>
      claimDeliveries(tx, {
        now: rig.clock.now(),
        leaseUntil: after(leaseMs),
        turns: [{ endpointId: endpoint.id, share: 1 }],
      }),
    );
    expect(second).toMatchObject({ id: ended.deliveryId, attempts: 2 });
    const late = { ...ended, outcome: outcomeOfStatus(500) };
    const times = { startedAt: rig.clock.now(), endedAt: after(100) };
    const next = { ...ended, ...times, attempts: 2, outcome: outcomeOfStatus(status) };
    expect(await end([late, next])).toEqual([]);
    const nextAttemptAt = status === 200 ? null : after(300_100).toISOString();
    expect(await readLog()).toMatchObject([{ ...entry, attempts: 2, nextAttemptAt }]);
    const [{ recent } = {}] = await shown();
    expect((recent as unknown[]).at(-1)).toMatchObject(counted);
  },
);
