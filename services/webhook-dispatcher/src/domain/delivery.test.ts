import { describe, expect, test } from "@jest/globals";
import {
  type DetailedDelivery,
  leaseMsOf,
  showDetailedDelivery,
  showLinkDelivery,
} from "./delivery.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 10, 21, 10, minute));

const delivery = (change: Partial<DetailedDelivery> = {}): DetailedDelivery => ({
  id: "evt_1",
  eventType: "payment_link.completed",
  linkId: "plink_1",
  paymentId: null,
  status: "Pending",
  attempts: 0,
  httpStatus: null,
  error: null,
  dateCreated: at(0),
  lastAttemptAt: null,
  nextAttemptAt: null,
  failedAttempts: [],
  durationMs: null,
  isUnderWay: false,
  ...change,
});

/** An attempt that was answered 500, as it is kept and as it is shown. */
const failed = (number: number) => ({
  number,
  startedAt: at(number).toISOString(),
  durationMs: 40,
  httpStatus: 500,
  error: "status 500",
});

/** The fields of an entry whose last attempt was that one. */
const last = ({ number, durationMs, httpStatus, error }: ReturnType<typeof failed>) => ({
  attempts: number,
  lastAttemptAt: at(number),
  durationMs,
  httpStatus,
  error,
});

const attemptsOf = (change: Partial<DetailedDelivery>) =>
  showDetailedDelivery(delivery(change)).attemptLog;

const delivered = { durationMs: 30, httpStatus: 200, error: null };

describe("the attempts of a delivery", () => {
  test("are none before the first has ended", () => {
    expect(attemptsOf({})).toEqual([]);
    expect(attemptsOf({ attempts: 1, isUnderWay: true })).toEqual([]);
    expect(attemptsOf({ attempts: 1, isUnderWay: true, lastAttemptAt: at(1) })).toEqual([]);
  });

  test("end with the one that the entry tells, once", () => {
    expect(attemptsOf({ ...last(failed(1)) })).toEqual([failed(1)]);
    expect(attemptsOf({ ...last(failed(1)), failedAttempts: [failed(1)] })).toEqual([failed(1)]);
    const second = { ...last(failed(2)), ...delivered, status: "Delivered" as const };
    expect(attemptsOf({ ...second, failedAttempts: [failed(1)] })).toEqual([
      failed(1),
      { number: 2, startedAt: at(2).toISOString(), ...delivered },
    ]);
  });

  test("leave out the one that is under way", () => {
    const underWay = { ...last(failed(1)), attempts: 2, isUnderWay: true };
    expect(attemptsOf(underWay)).toEqual([failed(1)]);
    expect(attemptsOf({ ...underWay, failedAttempts: [failed(1)] })).toEqual([failed(1)]);
  });

  test("tell of one whose 2xx came after it was called interrupted that it was delivered", () => {
    const late = { ...last(failed(1)), ...delivered, status: "Delivered" as const };
    expect(attemptsOf({ ...late, failedAttempts: [failed(1)] })).toEqual([
      { number: 1, startedAt: at(1).toISOString(), ...delivered },
    ]);
  });

  test("of one that failed for good are all six", () => {
    const failedAttempts = [1, 2, 3, 4, 5].map(failed);
    const six = { ...last(failed(6)), status: "Failed" as const, failedAttempts };
    expect(attemptsOf(six)).toEqual([...failedAttempts, failed(6)]);
  });
});

test("an entry tells every field of its delivery", () => {
  const told = { ...last(failed(1)), paymentId: "tx_1", nextAttemptAt: at(9) };
  expect(showDetailedDelivery(delivery(told))).toEqual({
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
    attemptLog: [failed(1)],
  });
  const place = { endpointId: "whe_1", endpointName: "shop" };
  expect(showLinkDelivery({ ...delivery(), ...place })).toMatchObject({ id: "evt_1", ...place });
});

test("a lease outlives the deadline by the twenty seconds of rule HOOK-15", () => {
  expect(leaseMsOf(10_000)).toBe(30_000);
});
