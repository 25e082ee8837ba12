/** What an attempt counts against: its endpoint, the account that owns it, and the origin it goes to. */
export type Destination = { endpointId: string; userId: string; origin: string };

/** How many attempts may be under way in one process. */
export type SlotLimits = {
  slotsMax: number;
  slotsPerEndpointMax: number;
  slotsPerAccountMax: number;
  slotsPerOriginMax: number;
};

/** What may not begin any further attempt now: not even to be looked at. */
export type FullDestinations = {
  endpointIds: readonly string[];
  userIds: readonly string[];
  origins: readonly string[];
};

/** How many attempts to an endpoint may begin now. */
export type EndpointShare = { destination: Destination; share: number };

type SlotCounts = Map<string, number>;

/** The attempts under way in this process. */
export type Slots = {
  readonly limits: SlotLimits;
  readonly endpoints: SlotCounts;
  readonly accounts: SlotCounts;
  readonly origins: SlotCounts;
  takenCount: number;
};

/** The last part of all slots is held back for endpoints that hold few or none. */
const reservedRatio = 1 / 4;

/** Of what is held back and still free, an endpoint may have attempts under way for this part. */
const reservedShareRatio = 1 / 8;

/** Makes the slots of a process, all free. */
export const createSlots = (limits: SlotLimits): Slots => ({
  limits,
  endpoints: new Map(),
  accounts: new Map(),
  origins: new Map(),
  takenCount: 0,
});

/** How many more attempts may begin in all. */
export const countFreeSlots = ({ limits, takenCount }: Slots): number =>
  limits.slotsMax - takenCount;

/** Whether one more attempt may begin there. */
export const hasFreeSlot = (slots: Slots, { endpointId, userId, origin }: Destination): boolean =>
  countFreeSlots(slots) > 0 &&
  getCount(slots.endpoints, endpointId) < endpointSlotsMax(slots) &&
  getCount(slots.accounts, userId) < slots.limits.slotsPerAccountMax &&
  getCount(slots.origins, origin) < slots.limits.slotsPerOriginMax;

/** Who has no room: a scan of what is under way, which is bounded. */
export const listFullDestinations = (slots: Slots): FullDestinations => ({
  endpointIds: listKeysWithAtLeast(slots.endpoints, endpointSlotsMax(slots)),
  userIds: listKeysWithAtLeast(slots.accounts, slots.limits.slotsPerAccountMax),
  origins: listKeysWithAtLeast(slots.origins, slots.limits.slotsPerOriginMax),
});

/** Deals free slots out evenly, one at a time, over the places with room; the first always gets one. */
export const allocateSlots = (
  slots: Slots,
  destinations: readonly Destination[],
): EndpointShare[] => {
  const shares: EndpointShare[] = destinations.map((destination) => ({ destination, share: 0 }));
  // Slots are taken while they are dealt out, so that the bounds hold over all; then they are given back.
  for (let unfilledShares = shares; unfilledShares.length > 0;) {
    unfilledShares = unfilledShares.filter((endpointShare) => {
      if (!hasFreeSlot(slots, endpointShare.destination)) return false;
      takeSlot(slots, endpointShare.destination);
      endpointShare.share += 1;
      return true;
    });
  }
  for (const { destination, share } of shares) addToCounts(slots, destination, -share);
  return shares.filter(({ share }) => share > 0);
};

/** Counts one more attempt as under way. */
export const takeSlot = (slots: Slots, destination: Destination): void =>
  addToCounts(slots, destination, 1);

/** Counts an attempt as ended. */
export const releaseSlot = (slots: Slots, destination: Destination): void =>
  addToCounts(slots, destination, -1);

const addToCounts = (
  slots: Slots,
  { endpointId, userId, origin }: Destination,
  delta: number,
): void => {
  slots.takenCount += delta;
  addToCount(slots.endpoints, endpointId, delta);
  addToCount(slots.accounts, userId, delta);
  addToCount(slots.origins, origin, delta);
};

/** However many endpoints hang, within one deadline there is room again for those that do not. */
const endpointSlotsMax = (slots: Slots): number => {
  const { slotsMax, slotsPerEndpointMax } = slots.limits;
  const freeCount = countFreeSlots(slots);
  if (freeCount > slotsMax * reservedRatio) return slotsPerEndpointMax;
  return Math.min(slotsPerEndpointMax, Math.max(1, Math.floor(freeCount * reservedShareRatio)));
};

const getCount = (counts: SlotCounts, key: string): number => counts.get(key) ?? 0;

const addToCount = (counts: SlotCounts, key: string, delta: number): void => {
  const newCount = getCount(counts, key) + delta;
  if (newCount > 0) counts.set(key, newCount);
  else counts.delete(key);
};

const listKeysWithAtLeast = (counts: SlotCounts, minCount: number): string[] =>
  [...counts].filter(([, count]) => count >= minCount).map(([key]) => key);
