/** What attempts are limited by: the endpoint, its account, and the origin of its URL. */
export type Destination = { endpointId: string; userId: string; origin: string };

/** The maximum number of concurrent attempts in one process. */
export type SlotLimits = {
  slotsMax: number;
  slotsPerEndpointMax: number;
  slotsPerAccountMax: number;
  slotsPerOriginMax: number;
};

/** Destinations that cannot start another attempt now. Polls exclude them. */
export type FullDestinations = {
  endpointIds: readonly string[];
  userIds: readonly string[];
  origins: readonly string[];
};

/** How many attempts to an endpoint can start now. */
export type EndpointShare = { destination: Destination; share: number };

type SlotCounts = Map<string, number>;

/** The attempts in progress in this process. */
export type Slots = {
  readonly limits: SlotLimits;
  readonly endpoints: SlotCounts;
  readonly accounts: SlotCounts;
  readonly origins: SlotCounts;
  takenCount: number;
};

/** The part of all slots that is reserved for endpoints with few or no attempts in progress. */
const reservedRatio = 1 / 4;

/** The part of the free reserved slots that one endpoint can occupy. */
const reservedShareRatio = 1 / 8;

/** Creates a process's slots, all of them free. */
export const createSlots = (limits: SlotLimits): Slots => ({
  limits,
  endpoints: new Map(),
  accounts: new Map(),
  origins: new Map(),
  takenCount: 0,
});

/** Returns how many more attempts may start in total. */
export const countFreeSlots = ({ limits, takenCount }: Slots): number =>
  limits.slotsMax - takenCount;

/** Returns whether one more attempt may start for the destination. */
export const hasFreeSlot = (slots: Slots, { endpointId, userId, origin }: Destination): boolean =>
  countFreeSlots(slots) > 0 &&
  getCount(slots.endpoints, endpointId) < endpointSlotsMax(slots) &&
  getCount(slots.accounts, userId) < slots.limits.slotsPerAccountMax &&
  getCount(slots.origins, origin) < slots.limits.slotsPerOriginMax;

/** Lists destinations without free slots. Scans the attempts in progress, whose number is limited. */
export const listFullDestinations = (slots: Slots): FullDestinations => ({
  endpointIds: listKeysWithAtLeast(slots.endpoints, endpointSlotsMax(slots)),
  userIds: listKeysWithAtLeast(slots.accounts, slots.limits.slotsPerAccountMax),
  origins: listKeysWithAtLeast(slots.origins, slots.limits.slotsPerOriginMax),
});

/**
 * Allocates free slots evenly, one at a time, to destinations that can use more. The first
 * destination always gets one.
 */
export const allocateSlots = (
  slots: Slots,
  destinations: readonly Destination[],
): EndpointShare[] => {
  const shares: EndpointShare[] = destinations.map((destination) => ({ destination, share: 0 }));
  // Takes the slots during the allocation, so that all limits apply to their total, and releases
  // them afterwards.
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

/** Counts another attempt as in progress. */
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

/**
 * Limits how many slots an endpoint can take when few are free. Slots then become free for other
 * endpoints within one deadline, no matter how many endpoints hang.
 */
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
