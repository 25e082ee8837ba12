import { describe, expect, test } from "@jest/globals";
import {
  type DetailedDelivery,
  leaseMsFor,
  serializeDetailedDelivery,
  serializeLinkDelivery,
} from "./delivery.ts";

const atMinute = (minute: number) => new Date(Date.UTC(2026, 10, 21, 10, minute));

const createDelivery = (overrides: Partial<DetailedDelivery> = {}): DetailedDelivery => ({
  id: "evt_1",
  eventType: "payment_link.completed",
  linkId: "plink_1",
  paymentId: null,
  status: "Pending",
  attempts: 0,
  httpStatus: null,
  error: null,
  dateCreated: atMinute(0),
  lastAttemptAt: null,
  nextAttemptAt: null,
  failedAttempts: [],
  durationMs: null,
  isUnderWay: false,
  ...overrides,
});

/** An attempt with a 500 response, in both its stored and its serialized form. */
const failedAttempt = (number: number) => ({
  number,
  startedAt: atMinute(number).toISOString(),
  durationMs: 40,
  httpStatus: 500,
  error: "status 500",
});

/** The fields of an entry whose last attempt was the given one. */
const lastAttemptFields = ({
  number,
  durationMs,
  httpStatus,
  error,
}: ReturnType<typeof failedAttempt>) => ({
  attempts: number,
  lastAttemptAt: atMinute(number),
  durationMs,
  httpStatus,
  error,
});

const serializeAttempts = (overrides: Partial<DetailedDelivery>) =>
  serializeDetailedDelivery(createDelivery(overrides)).attemptLog;

const delivered = { durationMs: 30, httpStatus: 200, error: null };

describe("serializeDetailedDelivery lists attempts:", () => {
  test("none before the first has ended", () => {
    expect(serializeAttempts({})).toEqual([]);
    expect(serializeAttempts({ attempts: 1, isUnderWay: true })).toEqual([]);
    expect(
      serializeAttempts({ attempts: 1, isUnderWay: true, lastAttemptAt: atMinute(1) }),
    ).toEqual([]);
  });

  test("the last one only once, even if it is also stored as failed", () => {
    expect(serializeAttempts({ ...lastAttemptFields(failedAttempt(1)) })).toEqual([
      failedAttempt(1),
    ]);
    expect(
      serializeAttempts({
        ...lastAttemptFields(failedAttempt(1)),
        failedAttempts: [failedAttempt(1)],
      }),
    ).toEqual([failedAttempt(1)]);
    const secondDelivered = {
      ...lastAttemptFields(failedAttempt(2)),
      ...delivered,
      status: "Delivered" as const,
    };
    expect(serializeAttempts({ ...secondDelivered, failedAttempts: [failedAttempt(1)] })).toEqual([
      failedAttempt(1),
      { number: 2, startedAt: atMinute(2).toISOString(), ...delivered },
    ]);
  });

  test("without the one in progress", () => {
    const inProgress = { ...lastAttemptFields(failedAttempt(1)), attempts: 2, isUnderWay: true };
    expect(serializeAttempts(inProgress)).toEqual([failedAttempt(1)]);
    expect(serializeAttempts({ ...inProgress, failedAttempts: [failedAttempt(1)] })).toEqual([
      failedAttempt(1),
    ]);
  });

  test("as delivered if a 2xx arrived after the interruption", () => {
    const lateSuccess = {
      ...lastAttemptFields(failedAttempt(1)),
      ...delivered,
      status: "Delivered" as const,
    };
    expect(serializeAttempts({ ...lateSuccess, failedAttempts: [failedAttempt(1)] })).toEqual([
      { number: 1, startedAt: atMinute(1).toISOString(), ...delivered },
    ]);
  });

  test("all six of a delivery that failed permanently", () => {
    const failedAttempts = [1, 2, 3, 4, 5].map(failedAttempt);
    const sixAttempts = {
      ...lastAttemptFields(failedAttempt(6)),
      status: "Failed" as const,
      failedAttempts,
    };
    expect(serializeAttempts(sixAttempts)).toEqual([...failedAttempts, failedAttempt(6)]);
  });
});

test("an entry has every field of its delivery", () => {
  const pendingDelivery = {
    ...lastAttemptFields(failedAttempt(1)),
    paymentId: "tx_1",
    nextAttemptAt: atMinute(9),
  };
  expect(serializeDetailedDelivery(createDelivery(pendingDelivery))).toEqual({
    id: "evt_1",
    eventType: "payment_link.completed",
    linkId: "plink_1",
    paymentId: "tx_1",
    status: "Pending",
    attempts: 1,
    httpStatus: 500,
    error: "status 500",
    dateCreated: "2026-11-21T10:00:00.000Z",
    lastAttemptAt: "2026-11-21T10:01:00.000Z",
    nextAttemptAt: "2026-11-21T10:09:00.000Z",
    attemptLog: [failedAttempt(1)],
  });
  const endpointFields = { endpointId: "whe_1", endpointName: "shop" };
  expect(serializeLinkDelivery({ ...createDelivery(), ...endpointFields })).toMatchObject({
    id: "evt_1",
    ...endpointFields,
  });
});

test("a lease is twenty seconds longer than the deadline (rule HOOK-15)", () => {
  expect(leaseMsFor(10_000)).toBe(30_000);
});
