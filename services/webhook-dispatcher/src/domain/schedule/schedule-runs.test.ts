import { ok } from "node:assert/strict";
import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { type ScheduleWorld, createScheduleWorld } from "../../testing/create-schedule-world.ts";
import type { Destination, SlotLimits } from "./slots.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const arbitraryLimits: fc.Arbitrary<SlotLimits> = fc.record({
  slotsMax: fc.integer({ min: 1, max: 40 }),
  slotsPerEndpointMax: fc.integer({ min: 1, max: 20 }),
  slotsPerAccountMax: fc.integer({ min: 1, max: 30 }),
  slotsPerOriginMax: fc.integer({ min: 1, max: 30 }),
});

/** Generates endpoints that share accounts and origins. */
const arbitraryDestinations: fc.Arbitrary<Destination[]> = fc
  .array(fc.record({ user: fc.nat(3), origin: fc.nat(3) }), { minLength: 1, maxLength: 12 })
  .map((indexPairs) =>
    indexPairs.map(({ user, origin }, index) => ({
      endpointId: `e${index}`,
      userId: `u${user}`,
      origin: `o${origin}`,
    })),
  );

/** The next events and the destinations they affect. */
const arbitrarySteps = fc.array(
  fc.record({
    action: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("open", "open many") },
      { weight: 8, arbitrary: fc.constantFrom("opening", "end", "look") },
      { weight: 3, arbitrary: fc.constantFrom("write", "write back", "wait") },
      { weight: 1, arbitrary: fc.constantFrom("wait long", "rival", "leave", "fail") },
    ),
    seed: fc.nat(1_000),
  }),
  { maxLength: 250, size: "max" },
);

type Step = { action: string; seed: number };

const pickOne = <Item>(items: Iterable<Item>, seed: number): Item | undefined => {
  const list = [...items];
  return list[seed % list.length];
};

const play = (
  world: ScheduleWorld,
  destinations: readonly Destination[],
  { action, seed }: Step,
): void => {
  const destination = pickOne(destinations, seed);
  if (destination === undefined) return;
  const attempt = pickOne(world.attemptsInProgress, seed);
  switch (action) {
    case "open":
      return world.beginCreating([{ destination, count: 1 + (seed % 5) }]);
    case "open many":
      return world.beginCreating(
        destinations.map((listedDestination, index) => ({
          destination: listedDestination,
          count: (seed + index) % 4,
        })),
      );
    case "opening":
      return world.continueCreating();
    case "end":
      return attempt && world.endAttempt(attempt, { isAnswered: true, isDelivered: true });
    case "fail":
      return (
        attempt && world.endAttempt(attempt, { isAnswered: seed % 2 === 0, isDelivered: false })
      );
    case "look":
      return world.continuePolling();
    case "write":
      return world.writeResults();
    case "write back":
      return world.releaseLeases();
    case "wait":
      return world.advance(seed % 50);
    case "wait long":
      return world.advance(seed * 2);
    case "rival":
      return world.actAsRival(destination.endpointId);
    case "leave":
      return world.disableEndpoint(destination.endpointId);
  }
};

/** Continues all work in progress until nothing changes anymore, without a timed poll. */
const settleWorld = (world: ScheduleWorld): void => {
  for (let rounds = 0; world.hasPendingWork() || world.wouldPoll(); rounds += 1) {
    ok(rounds < 10_000, "the world never settles");
    world.continueCreating();
    if (world.wouldPoll()) world.continuePolling();
    for (const attempt of world.attemptsInProgress) {
      world.endAttempt(attempt, { isAnswered: true, isDelivered: true });
    }
    world.writeResults();
    world.releaseLeases();
    world.advance(1);
  }
};

/** Advances the time, and everything that follows from it, until every delivery has ended. */
const finishWorld = (world: ScheduleWorld): void => {
  const areAllOver = () => [...world.rows].every(({ state }) => state === "over");
  for (let rounds = 0; !areAllOver(); rounds += 1) {
    ok(rounds < 200, "a delivery never ends");
    world.actAsRival("");
    world.advance(1_000);
    settleWorld(world);
  }
};

describe("a schedule with random events", () => {
  test("respects limits and order, starts each lease at most once, and completes every delivery", () => {
    fc.assert(
      fc.property(
        arbitraryLimits,
        arbitraryDestinations,
        arbitrarySteps,
        (limits, destinations, steps) => {
          const world = createScheduleWorld(limits);
          for (const step of steps) play(world, destinations, step);
          settleWorld(world);
          world.expectNoneForgotten();
          finishWorld(world);
          world.advance(1_000);
          world.continuePolling();
          settleWorld(world);
          world.expectEmpty();
        },
      ),
      { ...getPropertyRunOptions({ commit: 200, soak: 2_000 }), endOnFailure: true },
    );
  });

  test("starts nothing and leaves nothing leased once it is stopping", () => {
    fc.assert(
      fc.property(
        arbitraryLimits,
        arbitraryDestinations,
        arbitrarySteps,
        (limits, destinations, steps) => {
          const world = createScheduleWorld(limits);
          for (const step of steps) play(world, destinations, step);
          world.stop();
          settleWorld(world);
          expect([...world.rows].filter(({ state }) => state === "leased")).toEqual([]);
        },
      ),
      getPropertyRunOptions({ commit: 50, soak: 500 }),
    );
  });
});

const tickMs = 5;
const deadlineMs = 10_000;
const durationMs = 25_000;

const createDestination = (endpointId: string): Destination => ({
  endpointId,
  userId: `of ${endpointId}`,
  origin: `at ${endpointId}`,
});

/**
 * Advances one tick. Receivers respond unless they hang, and the process takes one step of each
 * kind.
 */
const tick = (world: ScheduleWorld, hangingDestinations: ReadonlySet<Destination>): void => {
  const nowMs = world.now();
  for (const attempt of world.attemptsInProgress) {
    const isHanging = hangingDestinations.has(attempt.destination);
    if (nowMs >= attempt.startedAtMs + (isHanging ? deadlineMs : tickMs)) {
      world.endAttempt(attempt, { isAnswered: !isHanging, isDelivered: !isHanging });
    }
  }
  while (world.pendingInserts.size > 0) world.continueCreating();
  if (world.wouldPoll()) world.continuePolling();
  world.writeResults();
  world.releaseLeases();
  world.advance(tickMs);
};

type Load = { slotsMax: number; hangingRatio: number; quickCount: number; perTick: number };

const arbitraryLoad: fc.Arbitrary<Load> = fc.record({
  slotsMax: fc.integer({ min: 16, max: 64 }),
  hangingRatio: fc.double({ min: 0, max: 1 / 2, noNaN: true }),
  quickCount: fc.nat(3),
  perTick: fc.integer({ min: 1, max: 2 }),
});

/** Runs a load and returns the longest waits. */
const measureWaits = ({ slotsMax, hangingRatio, quickCount, perTick }: Load) => {
  const slotsPerEndpointMax = Math.ceil(slotsMax / 13);
  const limits = { slotsMax, slotsPerEndpointMax, slotsPerAccountMax: 99, slotsPerOriginMax: 99 };
  const world = createScheduleWorld(limits);
  const createDestinations = (name: string, count: number): Destination[] =>
    Array.from({ length: Math.floor(count) }, (_, index) => createDestination(name + index));
  const hangingDestinations = new Set(createDestinations("hanging", slotsMax * hangingRatio));
  const quickRequests = createDestinations("quick", quickCount).map((destination) => ({
    destination,
    count: perTick,
  }));
  const modestDestination = createDestination("modest");
  const longestWaits = { modestMs: 0, hangingMs: 0 };
  const startMs = world.now();
  for (let ms = 0; ms < durationMs; ms += tickMs) {
    if (ms % 500 === 0)
      world.beginCreating(
        [...hangingDestinations].map((destination) => ({ destination, count: 2 })),
      );
    if (ms % 1_000 === 700) world.beginCreating([{ destination: modestDestination, count: 1 }]);
    if (quickRequests.length > 0) world.beginCreating(quickRequests);
    tick(world, hangingDestinations);
    for (const { endpointId } of hangingDestinations) {
      const sinceMs = world.now() - (world.lastStartedAtMs.get(endpointId) ?? startMs);
      longestWaits.hangingMs = Math.max(longestWaits.hangingMs, sinceMs);
    }
    for (const row of world.rows) {
      const waitedMs = (row.startedAtMs ?? world.now()) - row.createdAtMs;
      if (row.destination === modestDestination)
        longestWaits.modestMs = Math.max(longestWaits.modestMs, waitedMs);
      if (row.state === "over") world.rows.delete(row);
    }
  }
  return longestWaits;
};

describe("a schedule under load, with hanging endpoints for up to half of the slots", () => {
  test("sends immediately to responsive endpoints and does not starve any endpoint", () => {
    fc.assert(
      fc.property(arbitraryLoad, (load) => {
        const { modestMs, hangingMs } = measureWaits(load);
        ok(modestMs <= 200, `other receivers delay a webhook by ${modestMs} ms`);
        ok(hangingMs <= 2 * deadlineMs + 1_000, `an endpoint is starved for ${hangingMs} ms`);
      }),
      { ...getPropertyRunOptions({ commit: 5, soak: 20 }), endOnFailure: true },
    );
  });
});
