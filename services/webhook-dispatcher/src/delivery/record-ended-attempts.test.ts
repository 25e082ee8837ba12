import { expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { topics } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
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

/** Creates a delivery whose first attempt has ended. */
const createAttemptOf = async (endpointId: string): Promise<EndedAttempt> => {
  const now = rig.clock.now();
  const leaseUntil = fromNow(leaseMs);
  const delivery = sampleDelivery(endpointId, now, { leaseUntil });
  await rig.pool.transaction((tx) => insertDeliveries(tx, [delivery]));
  return {
    id: delivery.id,
    eventId: delivery.eventId,
    endpointId,
    occurredAt: now,
    attempts: 1,
    startedAt: now,
    endedAt: now,
    durationMs: 5,
    sentBody: "{}",
    leaseUntil,
    outcome: interruptedOutcome,
  };
};

/** Creates an endpoint and a delivery whose first attempt has ended. */
const createEndedAttempt = async () => {
  const person = rig.signIn();
  const endpoint = await rig.register(person, "https://shop.com/");
  const endedAttempt = await createAttemptOf(endpoint.id);
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

const EventRow = z.object({ value: z.string() });

const listFailingEndpoints = async (endpointId: string) => {
  const values = await rig.pool.anyFirst(sql.type(EventRow)`
    SELECT value FROM outbox WHERE topic = ${topics.notifications} ORDER BY seq
  `);
  return values
    .map((value) => JSON.parse(value) as Record<string, unknown>)
    .filter((data) => data["endpointId"] === endpointId);
};

test("an endpoint that starts to fail is published once, until it works again (rules EVENT-11 and MAIL-3)", async () => {
  const { endpoint } = await createEndedAttempt();
  const recordOutcome = async (...statuses: number[]) => {
    const attempts = await Promise.all(
      statuses.map(async (status) => ({
        ...(await createAttemptOf(endpoint.id)),
        outcome: outcomeFromStatus(status),
      })),
    );
    await rig.pool.transaction((tx) =>
      recordEndedAttempts(tx, attempts, { ...retryOptions, hasNotifications: true }),
    );
    return (await listFailingEndpoints(endpoint.id)).length;
  };
  expect(await recordOutcome(200)).toBe(0);
  expect(await recordOutcome(500)).toBe(1);
  expect(await recordOutcome(500, 404)).toBe(1);
  expect(await recordOutcome(200)).toBe(1);
  expect(await recordOutcome(200, 500)).toBe(2);
  expect(await listFailingEndpoints(endpoint.id)).toMatchObject([
    { accountId: expect.stringMatching(/^user_/), name: "Shop" },
    { name: "Shop" },
  ]);
});

test("a failing endpoint is not published without a sender of emails (rule EVENT-11)", async () => {
  const { endpoint, endedAttempt } = await createEndedAttempt();
  await recordBatch([{ ...endedAttempt, outcome: outcomeFromStatus(500) }]);
  expect(await listFailingEndpoints(endpoint.id)).toEqual([]);
});

test("a test endpoint that starts to fail is not published, so no email is sent (rule MODE-9)", async () => {
  const { endpoint, endedAttempt } = await createEndedAttempt();
  await rig.pool.query(sqlVoid`UPDATE endpoints SET mode = 'test' WHERE id = ${endpoint.id}`);
  const failure = { ...endedAttempt, outcome: outcomeFromStatus(500) };
  await rig.pool.transaction((tx) =>
    recordEndedAttempts(tx, [failure], { ...retryOptions, hasNotifications: true }),
  );
  expect(await listFailingEndpoints(endpoint.id)).toEqual([]);
});
