import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";

/** Longer than any round trip, even if one packet is lost. */
const connectAttemptTimeoutMs = 1_500;

/**
 * Sets how long a connection attempt can take before the host's next address is tried. Node's
 * default of 250 ms is too short for a host on the other side of the world. Node does not try an
 * address again after it timed out. If the host's last address is of a family without a route, as
 * in most clusters, the host would be unreachable.
 */
export const setConnectAttemptTimeout = (): void =>
  setDefaultAutoSelectFamilyAttemptTimeout(connectAttemptTimeoutMs);
