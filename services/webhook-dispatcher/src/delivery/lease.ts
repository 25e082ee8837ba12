/** A lease outlives the longest attempt by this much: for slow writes, and clocks that differ. */
const leaseMarginMs = 20_000;

/** How long a delivery is leased for one attempt, which may take `timeoutMs`. */
export const leaseMsOf = (timeoutMs: number): number => timeoutMs + leaseMarginMs;
