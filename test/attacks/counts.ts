/** The attacker's measurements. */
export type Counts = {
  /** Responses by status. */
  responses: Record<string, number>;
  /** Failed calls and connections by error code. */
  errors: Record<string, number>;
  /**
   * The sockets that the attack opened: in total, currently open, and the maximum open at the same
   * time.
   */
  opened: number;
  held: number;
  heldMax: number;
  /** Sockets that the product closed. */
  closed: number;
  bytesRead: number;
};

export const createCounts = (): Counts => ({
  responses: {},
  errors: {},
  opened: 0,
  held: 0,
  heldMax: 0,
  closed: 0,
  bytesRead: 0,
});

/** Increments a named count. */
export const increment = (counts: Record<string, number>, name: string | number): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};
