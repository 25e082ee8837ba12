import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";

/** Longer than any round trip plus one lost packet. */
const connectAttemptTimeoutMs = 1_500;

/**
 * Sets how long a connection attempt may take before the host's next address is tried. Node's
 * default of 250 ms is too short for a host on the other side of the world. Node never returns to
 * an address that it gave up. If the last address belongs to an unroutable family, as in most
 * clusters, such a host would be unreachable.
 */
export const setConnectAttemptTimeout = (): void =>
  setDefaultAutoSelectFamilyAttemptTimeout(connectAttemptTimeoutMs);
