import { expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { endpointsPath, openRig } from "../testing/open-rig.ts";
import { sampleDelivery } from "../testing/samples.ts";
import { insertDeliveries } from "../store/deliveries.ts";
import { interruptedOutcome, outcomeOfStatus } from "./attempt/attempt-outcome.ts";
import { type EndedAttempt, endAttempts } from "./end-attempts.ts";

const rig = useRig(openRig);
const spread = { schedule: [30_000, 300_000], random: () => 0 };

test("a failure whose attempt somebody else has called interrupted is counted once", async () => {
  const person = rig.signIn();
  const endpoint = await rig.register(person, "https://shop.com/");
  const now = rig.clock.now();
  const leaseUntil = new Date(now.getTime() + 30_000);
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
  const end = (change: Partial<EndedAttempt>) =>
    rig.pool.transaction((tx) => endAttempts(tx, [{ ...ended, ...change }], spread));
  const shown = async () => {
    const { data } = (await rig.call(person, "GET", endpointsPath)).json;
    return data;
  };
  expect(await end({})).toEqual([]);
  const interrupted = await shown();
  expect(interrupted).toMatchObject([{ lastOutcome: "Failed", consecutiveFailures: 1 }]);

  // Whoever made the attempt could not write what came of it before.
  expect(await end({ outcome: outcomeOfStatus(500) })).toEqual([]);
  expect(await shown()).toEqual(interrupted);

  expect(await end({ outcome: outcomeOfStatus(200) })).toEqual([]);
  expect(await shown()).toMatchObject([{ lastOutcome: "Delivered", consecutiveFailures: 0 }]);
});
