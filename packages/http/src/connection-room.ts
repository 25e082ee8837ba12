import {
  type Address,
  type Connection,
  isIdle,
  isWaitingForClient,
} from "./connection-progress.ts";

/** How long a connection must have made no progress before it may give way. */
export type StallMs = (connection: Connection) => number;

/**
 * Orders the connections that may give way, best first: the longest idle one of the address that
 * holds most, then those that wait longest for their client. Nobody gives way whose answer is being
 * computed, nor a new connection whose first request may be on its way.
 */
export const victimsOf = (
  candidates: Iterable<Connection>,
  now: number,
  stallMsOf: StallMs,
): readonly Connection[] => {
  let idle: Connection | undefined;
  const stalled: Connection[] = [];
  for (const one of candidates) {
    if (isIdle(one)) {
      const isNew = one.request === undefined && now - one.idleSinceMs < stallMsOf(one);
      if (!isNew && (idle === undefined || isIdlerThan(one, idle))) idle = one;
    } else if (isWaitingForClient(one) && now - one.progressAtMs >= stallMsOf(one)) {
      stalled.push(one);
    }
  }
  if (idle !== undefined) return [idle];
  return stalled.sort((a, b) => a.progressAtMs - b.progressAtMs);
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
