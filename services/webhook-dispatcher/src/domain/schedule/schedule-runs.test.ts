import { ok } from "node:assert/strict";
import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { type ScheduleWorld, openScheduleWorld } from "../../testing/open-schedule-world.ts";
import type { Place, SlotBounds } from "./slots.ts";
import { propertyRuns } from "@payment-links/contracts/testing/property-runs";

const arbitraryBounds: fc.Arbitrary<SlotBounds> = fc.record({
  slotsMax: fc.integer({ min: 1, max: 40 }),
  slotsPerEndpointMax: fc.integer({ min: 1, max: 20 }),
  slotsPerAccountMax: fc.integer({ min: 1, max: 30 }),
  slotsPerOriginMax: fc.integer({ min: 1, max: 30 }),
});

/** Some endpoints, of fewer accounts and at fewer origins. */
const arbitraryPlaces: fc.Arbitrary<Place[]> = fc
  .array(fc.record({ user: fc.nat(3), origin: fc.nat(3) }), { minLength: 1, maxLength: 12 })
  .map((places) =>
    places.map(({ user, origin }, at) => ({
      endpointId: `e${at}`,
      userId: `u${user}`,
      origin: `o${origin}`,
    })),
  );

/** What happens next, and to whom. */
const arbitrarySteps = fc.array(
  fc.record({
    what: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("open", "open many") },
      { weight: 8, arbitrary: fc.constantFrom("opening", "end", "look") },
      { weight: 3, arbitrary: fc.constantFrom("write", "write back", "wait") },
      { weight: 1, arbitrary: fc.constantFrom("wait long", "rival", "leave", "fail") },
    ),
    whom: fc.nat(1_000),
  }),
  { maxLength: 250, size: "max" },
);

type Step = { what: string; whom: number };

const one = <Thing>(things: Iterable<Thing>, whom: number): Thing | undefined => {
  const all = [...things];
  return all[whom % all.length];
};

const play = (world: ScheduleWorld, places: readonly Place[], { what, whom }: Step): void => {
  const place = one(places, whom);
  if (place === undefined) return;
  const attempt = one(world.underWay, whom);
  switch (what) {
    case "open":
      return world.open([{ place, count: 1 + (whom % 5) }]);
    case "open many":
      return world.open(places.map((each, at) => ({ place: each, count: (whom + at) % 4 })));
    case "opening":
      return world.goOnOpening();
    case "end":
      return attempt && world.end(attempt, { isAnswered: true, isDelivered: true });
    case "fail":
      return attempt && world.end(attempt, { isAnswered: whom % 2 === 0, isDelivered: false });
    case "look":
      return world.goOnLooking();
    case "write":
      return world.write();
    case "write back":
      return world.writeBack();
    case "wait":
      return world.advance(whom % 50);
    case "wait long":
      return world.advance(whom * 2);
    case "rival":
      return world.rival(place.endpointId);
    case "leave":
      return world.leave(place.endpointId);
  }
};

/** Lets all that is under way go on, without a poll, until nothing moves by itself any more. */
const settle = (world: ScheduleWorld): void => {
  for (let rounds = 0; world.isMoving() || world.wouldLook(); rounds += 1) {
    ok(rounds < 10_000, "something moves for ever");
    world.goOnOpening();
    if (world.wouldLook()) world.goOnLooking();
    for (const attempt of world.underWay) {
      world.end(attempt, { isAnswered: true, isDelivered: true });
    }
    world.write();
    world.writeBack();
    world.advance(1);
  }
};

/** Lets time pass, with all that it brings, until every delivery is over. */
const finish = (world: ScheduleWorld): void => {
  const isOver = () => [...world.rows].every(({ state }) => state === "over");
  for (let rounds = 0; !isOver(); rounds += 1) {
    ok(rounds < 200, "a delivery never ends");
    world.rival("");
    world.advance(1_000);
    settle(world);
  }
};

describe("a schedule, whatever happens in whichever order", () => {
  test("keeps its bounds and its order, begins each lease once at most, and brings all to an end", () => {
    fc.assert(
      fc.property(arbitraryBounds, arbitraryPlaces, arbitrarySteps, (bounds, places, steps) => {
        const world = openScheduleWorld(bounds);
        for (const step of steps) play(world, places, step);
        settle(world);
        world.expectNothingForgotten();
        finish(world);
        world.advance(1_000);
        world.goOnLooking();
        settle(world);
        world.expectEmpty();
      }),
      { ...propertyRuns({ commit: 200, soak: 2_000 }), endOnFailure: true },
    );
  });

  test("begins nothing once it is stopping, and leaves nothing leased", () => {
    fc.assert(
      fc.property(arbitraryBounds, arbitraryPlaces, arbitrarySteps, (bounds, places, steps) => {
        const world = openScheduleWorld(bounds);
        for (const step of steps) play(world, places, step);
        world.stop();
        settle(world);
        expect([...world.rows].filter(({ state }) => state === "leased")).toEqual([]);
      }),
      propertyRuns({ commit: 50, soak: 500 }),
    );
  });
});

const tickMs = 5;
const deadlineMs = 10_000;
const lastsMs = 25_000;

const placeOf = (endpointId: string): Place => ({
  endpointId,
  userId: `of ${endpointId}`,
  origin: `at ${endpointId}`,
});

/** Lets a moment pass: receivers answer, but for those that hang; each step of a process takes that long. */
const tick = (world: ScheduleWorld, hanging: ReadonlySet<Place>): void => {
  const now = world.now();
  for (const attempt of world.underWay) {
    const isHanging = hanging.has(attempt.place);
    if (now >= attempt.begunAtMs + (isHanging ? deadlineMs : tickMs)) {
      world.end(attempt, { isAnswered: !isHanging, isDelivered: !isHanging });
    }
  }
  while (world.openings.size > 0) world.goOnOpening();
  if (world.wouldLook()) world.goOnLooking();
  world.write();
  world.writeBack();
  world.advance(tickMs);
};

type Load = { slotsMax: number; hangingPart: number; quickCount: number; perTick: number };

const arbitraryLoad: fc.Arbitrary<Load> = fc.record({
  slotsMax: fc.integer({ min: 16, max: 64 }),
  hangingPart: fc.double({ min: 0, max: 1 / 2, noNaN: true }),
  quickCount: fc.nat(3),
  perTick: fc.integer({ min: 1, max: 2 }),
});

/** Puts that load on a process; answers the longest time for which it let somebody wait. */
const bear = ({ slotsMax, hangingPart, quickCount, perTick }: Load) => {
  const slotsPerEndpointMax = Math.ceil(slotsMax / 13);
  const bounds = { slotsMax, slotsPerEndpointMax, slotsPerAccountMax: 99, slotsPerOriginMax: 99 };
  const world = openScheduleWorld(bounds);
  const places = (name: string, count: number): Place[] =>
    Array.from({ length: Math.floor(count) }, (_, at) => placeOf(name + at));
  const hanging = new Set(places("hanging", slotsMax * hangingPart));
  const quick = places("quick", quickCount).map((place) => ({ place, count: perTick }));
  const modest = placeOf("modest");
  const longest = { modestMs: 0, hangingMs: 0 };
  const startMs = world.now();
  for (let ms = 0; ms < lastsMs; ms += tickMs) {
    if (ms % 500 === 0) world.open([...hanging].map((place) => ({ place, count: 2 })));
    if (ms % 1_000 === 700) world.open([{ place: modest, count: 1 }]);
    if (quick.length > 0) world.open(quick);
    tick(world, hanging);
    for (const { endpointId } of hanging) {
      const sinceMs = world.now() - (world.lastBegunAtMs.get(endpointId) ?? startMs);
      longest.hangingMs = Math.max(longest.hangingMs, sinceMs);
    }
    for (const row of world.rows) {
      const waitedMs = (row.begunAtMs ?? world.now()) - row.openedAtMs;
      if (row.place === modest) longest.modestMs = Math.max(longest.modestMs, waitedMs);
      if (row.state === "over") world.rows.delete(row);
    }
  }
  return longest;
};

describe("a schedule under load, with half as many endpoints that hang as slots", () => {
  test("sends at once to whoever answers, and starves nobody", () => {
    fc.assert(
      fc.property(arbitraryLoad, (load) => {
        const { modestMs, hangingMs } = bear(load);
        ok(modestMs <= 200, `a webhook waits ${modestMs} ms for receivers of others`);
        ok(hangingMs <= 2 * deadlineMs + 1_000, `an endpoint is starved for ${hangingMs} ms`);
      }),
      { ...propertyRuns({ commit: 5, soak: 20 }), endOnFailure: true },
    );
  });
});
