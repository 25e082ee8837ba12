import { describe, expect, test } from "@jest/globals";
import { createSchedule, isBusy, capacityForNewDeliveries, updateSchedule } from "./schedule.ts";
import type { Destination } from "./slots.ts";

const nowMs = 1_000_000;
const destination: Destination = { endpointId: "e", userId: "u", origin: "o" };
const otherDestination: Destination = { endpointId: "e2", userId: "u2", origin: "o2" };

const createTestSchedule = (slotsMax: number) => {
  const limits = { slotsMax, slotsPerEndpointMax: slotsMax };
  const state = createSchedule<{ destination: Destination }>({
    ...limits,
    slotsPerAccountMax: slotsMax,
    slotsPerOriginMax: slotsMax,
  });
  const applyInput = (input: Parameters<typeof updateSchedule<{ destination: Destination }>>[1]) =>
    updateSchedule(state, input, nowMs);
  /** Creates this many leased deliveries and ends all attempts. Returns how many started. */
  const send = (count: number): number => {
    const leased = Array.from({ length: count }, () => ({ destination }));
    const { attemptsToStart } = applyInput({ kind: "leased", leased });
    for (const started of attemptsToStart)
      applyInput({ kind: "ended", destination: started.destination, hasResponse: true });
    return attemptsToStart.length;
  };
  return { state, applyInput, send };
};

const createdWithLease = { kind: "leased", leased: [{ destination }] } as const;

describe("with a thousand unwritten results", () => {
  test("starts, leases and polls nothing until one of them is written", () => {
    const { state, applyInput, send } = createTestSchedule(4_000);
    expect(send(999)).toBe(999);
    applyInput({ kind: "queued", destinations: [otherDestination] });
    expect(applyInput(createdWithLease).attemptsToStart).toHaveLength(1);
    applyInput({ kind: "ended", destination, hasResponse: true });
    expect(applyInput(createdWithLease).attemptsToStart).toEqual([]);
    expect(capacityForNewDeliveries(state, [destination], nowMs)).toEqual(new Map());
    expect(applyInput({ kind: "look" }).poll).toBeUndefined();
    expect(applyInput({ kind: "written", count: 1 })).toMatchObject({
      attemptsToStart: [{ destination }],
      pollAtMs: nowMs,
    });
    expect(capacityForNewDeliveries(state, [destination], nowMs).get("e")).toBeGreaterThan(0);
    expect(applyInput({ kind: "look" }).poll?.limit).toBeGreaterThan(0);
    // There was no backpressure, so nothing has to resume.
    expect(applyInput({ kind: "written", count: 1 })).toMatchObject({
      attemptsToStart: [],
      pollAtMs: undefined,
    });
  });
});

describe("isBusy", () => {
  test("returns true while more than a hundred attempts are ready in memory", () => {
    const { state, applyInput } = createTestSchedule(1);
    const leased = Array.from({ length: 101 }, () => ({ destination }));
    applyInput({ kind: "leased", leased });
    expect(isBusy(state, nowMs)).toBe(false);
    applyInput(createdWithLease);
    expect(isBusy(state, nowMs)).toBe(true);
  });

  test("returns true only while an endpoint with 500 responses per second has a backlog", () => {
    const { state, applyInput, send } = createTestSchedule(200);
    send(101);
    applyInput({ kind: "queued", destinations: [otherDestination] });
    expect(isBusy(state, nowMs)).toBe(false);
    applyInput({ kind: "queued", destinations: [destination] });
    expect(isBusy(state, nowMs)).toBe(true);
    expect(isBusy(state, nowMs + 400)).toBe(false);
  });
});

describe("a poll", () => {
  test("repeats when the next delivery is due, or shortly after a contended claim", () => {
    const { applyInput } = createTestSchedule(4);
    const { poll } = applyInput({ kind: "look" });
    if (poll === undefined) throw new Error("no poll despite free slots");
    const dueDestinations = (ms: number) => [{ ...destination, dueAt: new Date(nowMs + ms) }];
    expect(applyInput({ kind: "found", poll, waiting: dueDestinations(70) }).pollAtMs).toBe(
      nowMs + 70,
    );
    const { claim } = applyInput({ kind: "found", poll, waiting: dueDestinations(0) });
    if (claim === undefined) throw new Error("no claim despite a due delivery");
    expect(applyInput({ kind: "claimed", claim, leased: [] }).pollAtMs).toBe(nowMs + 50);
  });

  /** Polls while slots are free and finds this many endpoints with due deliveries. */
  const findDue = (applyInput: ReturnType<typeof createTestSchedule>["applyInput"], count = 1) => {
    const { poll } = applyInput({ kind: "look" });
    if (poll === undefined) throw new Error("no poll despite free slots");
    const waiting = Array.from({ length: count }, (_, index) => {
      const name = String(index);
      return { endpointId: name, userId: name, origin: name, dueAt: new Date(nowMs) };
    });
    return { kind: "found", poll, waiting } as const;
  };

  test("claims nothing if the slots were taken in the meantime, and repeats", () => {
    const { applyInput } = createTestSchedule(1);
    const foundInput = findDue(applyInput);
    applyInput(createdWithLease);
    expect(applyInput(foundInput)).toMatchObject({ claim: undefined, pollAtMs: nowMs + 50 });
  });

  test("claims 500 deliveries at most", () => {
    const { applyInput } = createTestSchedule(4_000);
    const { claim } = applyInput(findDue(applyInput, 600));
    expect(claim?.shares.reduce((sum, { share }) => sum + share, 0)).toBe(500);
  });

  test("is requested for a responsive endpoint without free slots", () => {
    const { applyInput, send } = createTestSchedule(40);
    send(9);
    const leased = Array.from({ length: 33 }, () => ({ destination }));
    applyInput({ kind: "leased", leased });
    applyInput({ kind: "queued", destinations: [destination] });
    expect(applyInput({ kind: "ended", destination, hasResponse: false })).toMatchObject({
      attemptsToStart: [{ destination }],
      pollAtMs: nowMs,
    });
  });

  test("prefetches nothing for attempts that end without a response", () => {
    const { applyInput } = createTestSchedule(9);
    applyInput(createdWithLease);
    applyInput({ kind: "ended", destination, hasResponse: false });
    expect(applyInput({ kind: "look" }).poll?.alwaysIncluded).toEqual([]);
  });
});

test("leases nothing once it is stopping, neither new deliveries nor those found by a poll", () => {
  const { state, applyInput } = createTestSchedule(9);
  const { poll } = applyInput({ kind: "look" });
  if (poll === undefined) throw new Error("no poll despite free slots");
  applyInput({ kind: "stopping" });
  expect(capacityForNewDeliveries(state, [destination], nowMs)).toEqual(new Map());
  const waiting = [{ ...destination, dueAt: new Date(nowMs) }];
  expect(applyInput({ kind: "found", poll, waiting }).claim).toBeUndefined();
});
