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

/** Creates an endpoint with its own account and origin by default. */
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

/** Takes all allocated slots. Returns the share of each destination. */
const takeShares = (slots: Slots, destinations: readonly Destination[]): number[] =>
  allocateSlots(slots, destinations).map((endpointShare) => {
    for (let index = 0; index < endpointShare.share; index += 1)
      takeSlot(slots, endpointShare.destination);
    return endpointShare.share;
  });

const sum = (shares: readonly number[]): number =>
  shares.reduce((total, count) => total + count, 0);

describe("slots", () => {
  test("are limited per endpoint, and one is free again when an attempt ends", () => {
    const slots = createSlots(limits);
    const [destination] = [createDestination("a")];
    expect(takeShares(slots, [destination])).toEqual([20]);
    expect(listFullDestinations(slots)).toEqual({ endpointIds: ["a"], userIds: [], origins: [] });
    expect(allocateSlots(slots, [destination])).toEqual([]);
    releaseSlot(slots, destination);
    expect(listFullDestinations(slots).endpointIds).toEqual([]);
    expect(takeShares(slots, [destination])).toEqual([1]);
  });

  test("are allocated evenly when there are too few", () => {
    const slots = createSlots({ ...limits, slotsMax: 16 });
    expect(allocateSlots(slots, createDestinations(20)).map(({ share }) => share)).toEqual(
      Array(16).fill(1),
    );
    expect(countFreeSlots(slots)).toBe(16);
    expect(allocateSlots(slots, createDestinations(5)).map(({ share }) => share)).toEqual([
      3, 3, 2, 2, 2,
    ]);
  });

  test("are limited per account, across all of its endpoints", () => {
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

  test("are limited per origin, across all accounts", () => {
    const slots = createSlots({ ...limits, slotsPerOriginMax: 30 });
    expect(sum(takeShares(slots, createDestinations(50, { origin: "https://shop.com" })))).toBe(30);
    expect(listFullDestinations(slots).origins).toEqual(["https://shop.com"]);
    expect(
      allocateSlots(slots, [createDestination("another", { origin: "https://shop.com" })]),
    ).toEqual([]);
  });

  test("are reserved, so that a new endpoint gets one when twenty-five others hang", () => {
    const slots = createSlots(limits);
    const hangingDestinations = createDestinations(25);
    const slotsByEndpoint = new Map<string, number>();
    // Each endpoint takes as many slots as it can. Its earlier attempts have timed out before the
    // second round.
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

  test("are reserved within one allocation too, for any number of due endpoints", () => {
    const slots = createSlots(limits);
    const shares = takeShares(slots, createDestinations(100));
    expect([shares.length, Math.min(...shares), Math.max(...shares)]).toEqual([100, 2, 3]);
    expect(countFreeSlots(slots)).toBeGreaterThan(0);
  });

  test("in the reserve are allocated up to an eighth of the free ones and up to the limit", () => {
    const newcomerShare = (slotsMax: number, slotsPerEndpointMax: number): number => {
      const slots = createSlots({ ...limits, slotsMax, slotsPerEndpointMax });
      const hangingCount = (slotsMax * 3) / 4 / slotsPerEndpointMax;
      for (const destination of createDestinations(hangingCount)) takeShares(slots, [destination]);
      return sum(takeShares(slots, [createDestination("new")]));
    };
    // 64 slots are free. The endpoint gets seven: an eighth of the 57 that remain.
    expect(newcomerShare(256, 16)).toBe(7);
    expect(newcomerShare(640, 5)).toBe(5);
  });

  test("are all free again when all attempts have ended", () => {
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
