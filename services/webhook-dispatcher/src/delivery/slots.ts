/** The attempts under way in this process, bounded in all and per endpoint. */
export type Slots = {
  /** How many more attempts may begin. */
  free(): number;
  /** Attempts under way, by endpoint. */
  inFlight(): ReadonlyMap<string, number>;
  take(endpointId: string): void;
  release(endpointId: string): void;
};

/** Makes the slots of a process, all free. */
export const createSlots = (slotsMax: number): Slots => {
  const inFlight = new Map<string, number>();
  let taken = 0;
  return {
    free: () => slotsMax - taken,
    inFlight: () => inFlight,
    take: (endpointId) => {
      taken += 1;
      inFlight.set(endpointId, (inFlight.get(endpointId) ?? 0) + 1);
    },
    release: (endpointId) => {
      taken -= 1;
      const rest = (inFlight.get(endpointId) ?? 0) - 1;
      if (rest > 0) inFlight.set(endpointId, rest);
      else inFlight.delete(endpointId);
    },
  };
};
