/** What the attacker saw. */
export type Counts = {
  /** Answers by status. */
  responses: Record<string, number>;
  /** Failed calls and connections by error code. */
  errors: Record<string, number>;
  /** Sockets that the attack held open: opened in all, now, and at most. */
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

/** Adds one to a named count. */
export const increment = (counts: Record<string, number>, name: string | number): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};
