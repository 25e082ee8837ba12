import { createHmac } from "node:crypto";
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
  sentBody: null,
  ...overrides,
});

const requestOptions = {
  target: { url: new URL("https://shop.com/hook"), secret: "whsec_x" },
  headerPrefix: "Acme",
};

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
  serializeDetailedDelivery(createDelivery(overrides), requestOptions).attemptLog;

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
  expect(serializeDetailedDelivery(createDelivery(pendingDelivery), requestOptions)).toEqual({
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
    request: null,
  });
  const endpointFields = { endpointId: "whe_1", endpointName: "shop" };
  expect(serializeLinkDelivery({ ...createDelivery(), ...endpointFields })).toMatchObject({
    id: "evt_1",
    ...endpointFields,
  });
});

describe("serializeDetailedDelivery returns the last request", () => {
  const sentDelivery = createDelivery({
    ...lastAttemptFields(failedAttempt(1)),
    sentBody: '{"id":"evt_1"}',
  });

  test("with the signature that the attempt sent, and without the secret (rule HOOK-16)", () => {
    const { request } = serializeDetailedDelivery(sentDelivery, requestOptions);
    expect(request).toMatchObject({ url: "https://shop.com/hook", body: '{"id":"evt_1"}' });
    const timestamp = String(atMinute(1).getTime() / 1000);
    const mac = createHmac("sha256", "whsec_x").update(`${timestamp}.{"id":"evt_1"}`);
    expect(request?.headers).toEqual([
      { name: "Content-Type", value: "application/json" },
      { name: "User-Agent", value: "PaymentLinks-Webhooks/1.0" },
      { name: "Accept-Encoding", value: "identity" },
      { name: "Acme-Signature", value: `v1=${mac.digest("hex")}` },
      { name: "Acme-Timestamp", value: timestamp },
      { name: "Acme-Event-Id", value: "evt_1" },
    ]);
    expect(JSON.stringify(request)).not.toContain("whsec_x");
  });

  test("as null if the body or the target is unknown", () => {
    const unknownTarget = { ...requestOptions, target: undefined };
    const forbiddenTarget = { ...requestOptions, target: { url: null, secret: "whsec_x" } };
    for (const options of [unknownTarget, forbiddenTarget])
      expect(serializeDetailedDelivery(sentDelivery, options).request).toBeNull();
    const interrupted = { ...sentDelivery, sentBody: null };
    expect(serializeDetailedDelivery(interrupted, requestOptions).request).toBeNull();
  });
});

test("a lease is twenty seconds longer than the deadline (rule HOOK-15)", () => {
  expect(leaseMsFor(10_000)).toBe(30_000);
});
