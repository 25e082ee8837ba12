/** What an attempt counts against: its endpoint, the account that owns it, and the origin it goes to. */
export type Place = { endpointId: string; userId: string; origin: string };

/** How many attempts may be under way in one process. */
export type SlotBounds = {
  slotsMax: number;
  slotsPerEndpointMax: number;
  slotsPerAccountMax: number;
  slotsPerOriginMax: number;
};

/** What may not begin any further attempt now: not even to be looked at. */
export type FullPlaces = {
  endpointIds: readonly string[];
  userIds: readonly string[];
  origins: readonly string[];
};

/** How many attempts to an endpoint may begin now. */
export type Turn = { place: Place; share: number };

type Counts = Map<string, number>;

/** The attempts under way in this process. */
export type Slots = {
  readonly bounds: SlotBounds;
  readonly endpoints: Counts;
  readonly accounts: Counts;
  readonly origins: Counts;
  taken: number;
};

/** The last part of all slots is held back for endpoints that hold few or none. */
const heldBack = 1 / 4;

/** Of what is held back and still free, an endpoint may have attempts under way for this part. */
const partOfHeldBack = 1 / 8;

/** Makes the slots of a process, all free. */
export const createSlots = (bounds: SlotBounds): Slots => ({
  bounds,
  endpoints: new Map(),
  accounts: new Map(),
  origins: new Map(),
  taken: 0,
});

/** How many more attempts may begin in all. */
export const countFree = ({ bounds, taken }: Slots): number => bounds.slotsMax - taken;

/** Whether one more attempt may begin there. */
export const hasRoom = (slots: Slots, { endpointId, userId, origin }: Place): boolean =>
  countFree(slots) > 0 &&
  countOf(slots.endpoints, endpointId) < endpointMax(slots) &&
  countOf(slots.accounts, userId) < slots.bounds.slotsPerAccountMax &&
  countOf(slots.origins, origin) < slots.bounds.slotsPerOriginMax;

/** Who has no room: a scan of what is under way, which is bounded. */
export const listFull = (slots: Slots): FullPlaces => ({
  endpointIds: atLeast(slots.endpoints, endpointMax(slots)),
  userIds: atLeast(slots.accounts, slots.bounds.slotsPerAccountMax),
  origins: atLeast(slots.origins, slots.bounds.slotsPerOriginMax),
});

/** Deals free slots out evenly, one at a time, over the places with room; the first always gets one. */
export const shareSlots = (slots: Slots, places: readonly Place[]): Turn[] => {
  const turns: Turn[] = places.map((place) => ({ place, share: 0 }));
  // Slots are taken while they are dealt out, so that the bounds hold over all; then they are given back.
  for (let open = turns; open.length > 0;) {
    open = open.filter((turn) => {
      if (!hasRoom(slots, turn.place)) return false;
      takeSlot(slots, turn.place);
      turn.share += 1;
      return true;
    });
  }
  for (const { place, share } of turns) count(slots, place, -share);
  return turns.filter(({ share }) => share > 0);
};

/** Counts one more attempt as under way. */
export const takeSlot = (slots: Slots, place: Place): void => count(slots, place, 1);

/** Counts an attempt as ended. */
export const releaseSlot = (slots: Slots, place: Place): void => count(slots, place, -1);

const count = (slots: Slots, { endpointId, userId, origin }: Place, change: number): void => {
  slots.taken += change;
  add(slots.endpoints, endpointId, change);
  add(slots.accounts, userId, change);
  add(slots.origins, origin, change);
};

/** However many endpoints hang, within one deadline there is room again for those that do not. */
const endpointMax = (slots: Slots): number => {
  const { slotsMax, slotsPerEndpointMax } = slots.bounds;
  const free = countFree(slots);
  if (free > slotsMax * heldBack) return slotsPerEndpointMax;
  return Math.min(slotsPerEndpointMax, Math.max(1, Math.floor(free * partOfHeldBack)));
};

const countOf = (counts: Counts, key: string): number => counts.get(key) ?? 0;

const add = (counts: Counts, key: string, change: number): void => {
  const next = countOf(counts, key) + change;
  if (next > 0) counts.set(key, next);
  else counts.delete(key);
};

const atLeast = (counts: Counts, most: number): string[] =>
  [...counts].filter(([, held]) => held >= most).map(([key]) => key);
