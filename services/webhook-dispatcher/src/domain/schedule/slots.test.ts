import { describe, expect, test } from "@jest/globals";
import {
  type Place,
  type Slots,
  countFree,
  createSlots,
  listFull,
  releaseSlot,
  shareSlots,
  takeSlot,
} from "./slots.ts";

const bounds = {
  slotsMax: 256,
  slotsPerEndpointMax: 20,
  slotsPerAccountMax: 100,
  slotsPerOriginMax: 128,
};

/** An endpoint of its own account at its own origin, unless said otherwise. */
const place = (endpointId: string, rest: Partial<Place> = {}): Place => ({
  endpointId,
  userId: `user of ${endpointId}`,
  origin: `https://${endpointId}.com`,
  ...rest,
});

const places = (count: number, rest: Partial<Place> = {}): Place[] =>
  Array.from({ length: count }, (_, at) => place(`e${at}`, rest));

/** Takes all that is dealt out; answers how many each got. */
const takeShares = (slots: Slots, among: readonly Place[]): number[] =>
  shareSlots(slots, among).map((turn) => {
    for (let taken = 0; taken < turn.share; taken += 1) takeSlot(slots, turn.place);
    return turn.share;
  });

const sum = (shares: readonly number[]): number => shares.reduce((all, one) => all + one, 0);

describe("slots", () => {
  test("give one endpoint its bound, and then it is full until an attempt ends", () => {
    const slots = createSlots(bounds);
    const [one] = [place("a")];
    expect(takeShares(slots, [one])).toEqual([20]);
    expect(listFull(slots)).toEqual({ endpointIds: ["a"], userIds: [], origins: [] });
    expect(shareSlots(slots, [one])).toEqual([]);
    releaseSlot(slots, one);
    expect(listFull(slots).endpointIds).toEqual([]);
    expect(takeShares(slots, [one])).toEqual([1]);
  });

  test("are dealt out evenly where there are fewer than asked for", () => {
    const slots = createSlots({ ...bounds, slotsMax: 16 });
    expect(shareSlots(slots, places(20)).map(({ share }) => share)).toEqual(Array(16).fill(1));
    expect(countFree(slots)).toBe(16);
    expect(shareSlots(slots, places(5)).map(({ share }) => share)).toEqual([3, 3, 2, 2, 2]);
  });

  test("are bounded per account, over all of its endpoints", () => {
    const slots = createSlots({ ...bounds, slotsPerAccountMax: 10 });
    expect(takeShares(slots, places(5, { userId: "u" }))).toEqual([2, 2, 2, 2, 2]);
    expect(listFull(slots).userIds).toEqual(["u"]);
    expect(shareSlots(slots, [place("another", { userId: "u" }), place("other")])).toEqual([
      { place: place("other"), share: 10 },
    ]);
  });

  test("are bounded per origin, whoever's endpoints go there", () => {
    const slots = createSlots({ ...bounds, slotsPerOriginMax: 30 });
    expect(sum(takeShares(slots, places(50, { origin: "https://shop.com" })))).toBe(30);
    expect(listFull(slots).origins).toEqual(["https://shop.com"]);
    expect(shareSlots(slots, [place("another", { origin: "https://shop.com" })])).toEqual([]);
  });

  test("hold some back: twenty-five endpoints that hang leave one that comes new its first", () => {
    const slots = createSlots(bounds);
    const hanging = places(25);
    const heldBy = new Map<string, number>();
    // Each takes what it can; the second time round its attempts have timed out before.
    for (const one of [...hanging, ...hanging]) {
      for (let held = heldBy.get(one.endpointId) ?? 0; held > 0; held -= 1) releaseSlot(slots, one);
      heldBy.set(one.endpointId, sum(takeShares(slots, [one])));
    }
    expect(countFree(slots)).toBeGreaterThan(0);
    expect(sum(takeShares(slots, [place("new")]))).toBeGreaterThan(0);
  });

  test("hold some back of one deal too, however many are due at once", () => {
    const slots = createSlots(bounds);
    const shares = takeShares(slots, places(100));
    expect([shares.length, Math.min(...shares), Math.max(...shares)]).toEqual([100, 2, 3]);
    expect(countFree(slots)).toBeGreaterThan(0);
  });

  test("held back are given in parts of an eighth of what is free, and never beyond a bound", () => {
    const newcomerShare = (slotsMax: number, slotsPerEndpointMax: number): number => {
      const slots = createSlots({ ...bounds, slotsMax, slotsPerEndpointMax });
      const held = (slotsMax * 3) / 4 / slotsPerEndpointMax;
      for (const one of places(held)) takeShares(slots, [one]);
      return sum(takeShares(slots, [place("new")]));
    };
    // Of 64 that are free it has seven: an eighth of the 57 that are left.
    expect(newcomerShare(256, 16)).toBe(7);
    expect(newcomerShare(640, 5)).toBe(5);
  });

  test("once all have ended hold nothing and nobody", () => {
    const slots = createSlots(bounds);
    const all = places(30);
    for (const { place: one, share } of shareSlots(slots, all)) {
      for (let taken = 0; taken < share; taken += 1) takeSlot(slots, one);
      for (let taken = 0; taken < share; taken += 1) releaseSlot(slots, one);
    }
    expect(countFree(slots)).toBe(bounds.slotsMax);
    expect(listFull(slots)).toEqual({ endpointIds: [], userIds: [], origins: [] });
  });
});
