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
type FullPlaces = {
  endpointIds: readonly string[];
  userIds: readonly string[];
  origins: readonly string[];
};

/** How many attempts to an endpoint may begin now. */
export type Turn = { place: Place; share: number };

/** The attempts under way in this process, and who may begin how many more. */
export type Slots = {
  /** How many more attempts may begin in all. */
  free(): number;
  full(): FullPlaces;
  /** Deals free slots out evenly, one at a time, over places with room; the first always gets one. */
  share(places: readonly Place[]): Turn[];
  /** Whether one more may begin there. */
  hasRoom(place: Place): boolean;
  take(place: Place): void;
  release(place: Place): void;
};

/** The last part of all slots is held back for endpoints that hold few or none. */
const heldBack = 1 / 4;

/** Of what is held back and still free, an endpoint may have attempts under way for this part. */
const partOfHeldBack = 1 / 8;

/** Makes the slots of a process, all free. */
export const createSlots = (bounds: SlotBounds): Slots => {
  const endpoints = createCounts();
  const accounts = createCounts();
  const origins = createCounts();
  let taken = 0;

  const free = (): number => bounds.slotsMax - taken;
  // However many endpoints hang, within one deadline there is room again for those that do not.
  const endpointMax = (): number => {
    if (free() > bounds.slotsMax * heldBack) return bounds.slotsPerEndpointMax;
    return Math.min(bounds.slotsPerEndpointMax, Math.max(1, Math.floor(free() * partOfHeldBack)));
  };
  const add = ({ endpointId, userId, origin }: Place, count: 1 | -1): void => {
    taken += count;
    endpoints.add(endpointId, count);
    accounts.add(userId, count);
    origins.add(origin, count);
  };

  const hasRoom = ({ endpointId, userId, origin }: Place): boolean =>
    free() > 0 &&
    endpoints.of(endpointId) < endpointMax() &&
    accounts.of(userId) < bounds.slotsPerAccountMax &&
    origins.of(origin) < bounds.slotsPerOriginMax;

  return {
    free,
    hasRoom,
    full: () => ({
      endpointIds: endpoints.atLeast(endpointMax()),
      userIds: accounts.atLeast(bounds.slotsPerAccountMax),
      origins: origins.atLeast(bounds.slotsPerOriginMax),
    }),
    share: (places) => {
      const turns: Turn[] = places.map((place) => ({ place, share: 0 }));
      // Taken while they are dealt out, so that the bounds hold over all of them; then given back.
      for (let open = turns; open.length > 0;) {
        open = open.filter((turn) => {
          if (!hasRoom(turn.place)) return false;
          add(turn.place, 1);
          turn.share += 1;
          return true;
        });
      }
      for (const { place, share } of turns) for (let n = 0; n < share; n += 1) add(place, -1);
      return turns.filter(({ share }) => share > 0);
    },
    take: (place) => add(place, 1),
    release: (place) => add(place, -1),
  };
};

const createCounts = () => {
  const counts = new Map<string, number>();
  const of = (key: string): number => counts.get(key) ?? 0;
  return {
    of,
    add: (key: string, count: number): void => {
      const next = of(key) + count;
      if (next > 0) counts.set(key, next);
      else counts.delete(key);
    },
    /** Who has that many or more; a scan of what is under way, which is bounded. */
    atLeast: (most: number): string[] =>
      [...counts].filter(([, count]) => count >= most).map(([key]) => key),
  };
};
