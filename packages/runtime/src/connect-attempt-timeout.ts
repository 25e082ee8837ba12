import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";

/** More than a round trip to anywhere takes, and a lost packet. */
const connectAttemptTimeoutMs = 1_500;

/**
 * Gives each address of a host but the last this long to answer a connection. Node's own 250 ms are less
 * than a host at the other end of the world needs, and it never goes back to one that it gave up: where
 * the last address is of a family that leads nowhere, as in most clusters, such a host is never reached.
 */
export const setConnectAttemptTimeout = (): void =>
  setDefaultAutoSelectFamilyAttemptTimeout(connectAttemptTimeoutMs);
