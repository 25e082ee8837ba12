import {
  type Address,
  type Connection,
  isIdle,
  isWaitingForClient,
} from "./connection-progress.ts";

/** How long a connection must have made no progress before it may give way. */
export type StallMs = (connection: Connection) => number;

/**
 * Chooses the connection that gives way: the longest idle one of the address that holds most, or
 * else the one that waits longest for its client. Nobody gives way whose answer is being computed,
 * nor a new connection whose first request may be on its way.
 */
export const chooseVictim = (
  candidates: Iterable<Connection>,
  now: number,
  stallMsOf: StallMs,
): Connection | undefined => {
  let idle: Connection | undefined;
  let stalled: Connection | undefined;
  for (const one of candidates) {
    if (isIdle(one)) {
      const isNew = one.request === undefined && now - one.idleSinceMs < stallMsOf(one);
      if (!isNew && (idle === undefined || isIdlerThan(one, idle))) idle = one;
    } else if (
      isWaitingForClient(one) &&
      now - one.progressAtMs >= stallMsOf(one) &&
      (stalled === undefined || one.progressAtMs < stalled.progressAtMs)
    ) {
      stalled = one;
    }
  }
  return idle ?? stalled;
};

const isIdlerThan = (one: Connection, other: Connection): boolean => {
  const more = one.address.connections.size - other.address.connections.size;
  return more === 0 ? one.idleSinceMs < other.idleSinceMs : more > 0;
};

/** Returns the address that holds most connections, trusted proxies aside. */
export const largestOf = (addresses: Iterable<Address>): Address | undefined => {
  let largest: Address | undefined;
  for (const address of addresses) {
    if (address.isExempt) continue;
    if (largest === undefined || address.connections.size > largest.connections.size) {
      largest = address;
    }
  }
  return largest;
};
