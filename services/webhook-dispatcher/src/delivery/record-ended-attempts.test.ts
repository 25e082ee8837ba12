import { expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { endpointsPath, createRig } from "../testing/create-rig.ts";
import { sampleDelivery } from "../testing/samples.ts";
import { claimDeliveries, insertDeliveries } from "../store/deliveries.ts";
import { interruptedOutcome, outcomeFromStatus } from "./attempt/attempt-outcome.ts";
import { type EndedAttempt, recordEndedAttempts } from "./record-ended-attempts.ts";

const rig = useRig(createRig);
const leaseMs = 30_000;
const retryOptions = { schedule: [0, 30_000, 300_000], random: () => 0 };

const fromNow = (ms: number): Date => new Date(rig.clock.now().getTime() + ms);

/** Creates an endpoint and a delivery whose first attempt has ended. */
const createEndedAttempt = async () => {
  const person = rig.signIn();
  const endpoint = await rig.register(person, "https://shop.com/");
  const now = rig.clock.now();
  const leaseUntil = fromNow(leaseMs);
  const delivery = sampleDelivery(endpoint.id, now, { leaseUntil });
  await rig.pool.transaction((tx) => insertDeliveries(tx, [delivery]));
  const endedAttempt: EndedAttempt = {
    id: delivery.id,
    eventId: delivery.eventId,
    endpointId: endpoint.id,
    occurredAt: now,
    attempts: 1,
    startedAt: now,
    endedAt: now,
    durationMs: 5,
    sentBody: "{}",
    leaseUntil,
    outcome: interruptedOutcome,
  };
  const listEndpoints = async () => {
    const { data } = (await rig.call(person, "GET", endpointsPath)).json;
    return data;
  };
  const readLog = () => rig.readLog(person, endpoint);
  return { endpoint, endedAttempt, listEndpoints, readLog };
};

const recordBatch = (batch: readonly EndedAttempt[]) =>
  rig.pool.transaction((tx) => recordEndedAttempts(tx, batch, retryOptions));

test("a failure is counted once if its attempt is already recorded as interrupted", async () => {
  const { endedAttempt, listEndpoints } = await createEndedAttempt();
  expect(await recordBatch([endedAttempt])).toEqual([]);
  const afterInterruption = await listEndpoints();
  expect(afterInterruption).toMatchObject([{ lastOutcome: "Failed", consecutiveFailures: 1 }]);

  // The process that made the attempt could not write its result earlier.
  expect(await recordBatch([{ ...endedAttempt, outcome: outcomeFromStatus(500) }])).toEqual([]);
  expect(await listEndpoints()).toEqual(afterInterruption);

  expect(await recordBatch([{ ...endedAttempt, outcome: outcomeFromStatus(200) }])).toEqual([]);
  expect(await listEndpoints()).toMatchObject([
    { lastOutcome: "Delivered", consecutiveFailures: 0 },
  ]);
});

// Guards against an early retry and against mixing up results. While results cannot be written to
// the database, the failures of two attempts of one delivery can get into the same batch.
test.each([
  ["is retried", 503, { httpStatus: 503, status: "Pending" }, { delivered: 0, failed: 2 }],
  ["ends", 200, { httpStatus: 200, status: "Delivered" }, { delivered: 1, failed: 1 }],
])(
  "a delivery that %s follows the result of its latest attempt, not a late one in the same batch",
  async (_, status, expectedEntry, expectedHour) => {
    const { endpoint, endedAttempt, listEndpoints, readLog } = await createEndedAttempt();
    await recordBatch([endedAttempt]);
    rig.clock.advance(leaseMs + 1_000);
    const [secondAttempt] = await rig.pool.transaction((tx) =>
      claimDeliveries(tx, {
        now: rig.clock.now(),
        leaseUntil: fromNow(leaseMs),
        shares: [{ endpointId: endpoint.id, share: 1 }],
      }),
    );
    expect(secondAttempt).toMatchObject({ id: endedAttempt.id, attempts: 2 });
    const lateResult = { ...endedAttempt, outcome: outcomeFromStatus(500) };
    const attemptTimes = { startedAt: rig.clock.now(), endedAt: fromNow(100) };
    const nextResult = {
      ...endedAttempt,
      ...attemptTimes,
      attempts: 2,
      outcome: outcomeFromStatus(status),
    };
    expect(await recordBatch([lateResult, nextResult])).toEqual([]);
    const nextAttemptAt = status === 200 ? null : fromNow(300_100).toISOString();
    expect(await readLog()).toMatchObject([{ ...expectedEntry, attempts: 2, nextAttemptAt }]);
    const [{ recent } = {}] = await listEndpoints();
    expect((recent as unknown[]).at(-1)).toMatchObject(expectedHour);
  },
);
