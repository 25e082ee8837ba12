import { describe, expect, test } from "@jest/globals";
import {
  type Destination,
  type Slots,
  countFreeSlots,
  createSlots,
  listFullDestinations,
  releaseSlot,
  allocateSlots,
  takeSlot,
} from "./slots.ts";

const limits = {
  slotsMax: 256,
  slotsPerEndpointMax: 20,
  slotsPerAccountMax: 100,
  slotsPerOriginMax: 128,
};

/** An endpoint of its own account at its own origin, unless said otherwise. */
const createDestination = (
  endpointId: string,
  overrides: Partial<Destination> = {},
): Destination => ({
  endpointId,
  userId: `user of ${endpointId}`,
  origin: `https://${endpointId}.com`,
  ...overrides,
});

const createDestinations = (count: number, overrides: Partial<Destination> = {}): Destination[] =>
  Array.from({ length: count }, (_, index) => createDestination(`e${index}`, overrides));

/** Takes all that is dealt out; answers how many each got. */
const takeShares = (slots: Slots, destinations: readonly Destination[]): number[] =>
  allocateSlots(slots, destinations).map((endpointShare) => {
    for (let index = 0; index < endpointShare.share; index += 1)
      takeSlot(slots, endpointShare.destination);
    return endpointShare.share;
  });

const sum = (shares: readonly number[]): number =>
  shares.reduce((total, count) => total + count, 0);

describe("slots", () => {
  test("give one endpoint its bound, and then it is full until an attempt ends", () => {
    const slots = createSlots(limits);
    const [destination] = [createDestination("a")];
    expect(takeShares(slots, [destination])).toEqual([20]);
    expect(listFullDestinations(slots)).toEqual({ endpointIds: ["a"], userIds: [], origins: [] });
    expect(allocateSlots(slots, [destination])).toEqual([]);
    releaseSlot(slots, destination);
    expect(listFullDestinations(slots).endpointIds).toEqual([]);
    expect(takeShares(slots, [destination])).toEqual([1]);
  });

  test("are dealt out evenly where there are fewer than asked for", () => {
    const slots = createSlots({ ...limits, slotsMax: 16 });
    expect(allocateSlots(slots, createDestinations(20)).map(({ share }) => share)).toEqual(
      Array(16).fill(1),
    );
    expect(countFreeSlots(slots)).toBe(16);
    expect(allocateSlots(slots, createDestinations(5)).map(({ share }) => share)).toEqual([
      3, 3, 2, 2, 2,
    ]);
  });

  test("are bounded per account, over all of its endpoints", () => {
    const slots = createSlots({ ...limits, slotsPerAccountMax: 10 });
    expect(takeShares(slots, createDestinations(5, { userId: "u" }))).toEqual([2, 2, 2, 2, 2]);
    expect(listFullDestinations(slots).userIds).toEqual(["u"]);
    expect(
      allocateSlots(slots, [
        createDestination("another", { userId: "u" }),
        createDestination("other"),
      ]),
    ).toEqual([{ destination: createDestination("other"), share: 10 }]);
  });

  test("are bounded per origin, whoever's endpoints go there", () => {
    const slots = createSlots({ ...limits, slotsPerOriginMax: 30 });
    expect(sum(takeShares(slots, createDestinations(50, { origin: "https://shop.com" })))).toBe(30);
    expect(listFullDestinations(slots).origins).toEqual(["https://shop.com"]);
    expect(
      allocateSlots(slots, [createDestination("another", { origin: "https://shop.com" })]),
    ).toEqual([]);
  });

  test("hold some back: twenty-five endpoints that hang leave one that comes new its first", () => {
    const slots = createSlots(limits);
    const hangingDestinations = createDestinations(25);
    const slotsByEndpoint = new Map<string, number>();
    // Each takes what it can; the second time round its attempts have timed out before.
    for (const destination of [...hangingDestinations, ...hangingDestinations]) {
      for (
        let remaining = slotsByEndpoint.get(destination.endpointId) ?? 0;
        remaining > 0;
        remaining -= 1
      )
        releaseSlot(slots, destination);
      slotsByEndpoint.set(destination.endpointId, sum(takeShares(slots, [destination])));
    }
    expect(countFreeSlots(slots)).toBeGreaterThan(0);
    expect(sum(takeShares(slots, [createDestination("new")]))).toBeGreaterThan(0);
  });

  test("hold some back of one deal too, however many are due at once", () => {
    const slots = createSlots(limits);
    const shares = takeShares(slots, createDestinations(100));
    expect([shares.length, Math.min(...shares), Math.max(...shares)]).toEqual([100, 2, 3]);
    expect(countFreeSlots(slots)).toBeGreaterThan(0);
  });

  test("held back are given in parts of an eighth of what is free, and never beyond a bound", () => {
    const newcomerShare = (slotsMax: number, slotsPerEndpointMax: number): number => {
      const slots = createSlots({ ...limits, slotsMax, slotsPerEndpointMax });
      const hangingCount = (slotsMax * 3) / 4 / slotsPerEndpointMax;
      for (const destination of createDestinations(hangingCount)) takeShares(slots, [destination]);
      return sum(takeShares(slots, [createDestination("new")]));
    };
    // Of 64 that are free it has seven: an eighth of the 57 that are left.
    expect(newcomerShare(256, 16)).toBe(7);
    expect(newcomerShare(640, 5)).toBe(5);
  });

  test("once all have ended hold nothing and nobody", () => {
    const slots = createSlots(limits);
    const destinations = createDestinations(30);
    for (const { destination, share } of allocateSlots(slots, destinations)) {
      for (let index = 0; index < share; index += 1) takeSlot(slots, destination);
      for (let index = 0; index < share; index += 1) releaseSlot(slots, destination);
    }
    expect(countFreeSlots(slots)).toBe(limits.slotsMax);
    expect(listFullDestinations(slots)).toEqual({ endpointIds: [], userIds: [], origins: [] });
  });
});
