import {
  type ClientAddress,
  type Connection,
  isIdle,
  isWaitingForClient,
} from "./connection-progress.ts";

/** Returns how long a connection must have made no progress before it can be evicted. */
export type GetStallMs = (connection: Connection) => number;

/**
 * Lists the connections that can be evicted, the best candidate first. If there are idle
 * connections, this is the longest idle one of the address with the most connections. Otherwise
 * these are the connections that have waited longest for their client. Never lists a connection
 * whose response is being computed, or a new one whose first request may be on its way.
 */
export const listEvictionCandidates = (
  candidates: Iterable<Connection>,
  nowMs: number,
  getStallMs: GetStallMs,
): readonly Connection[] => {
  let longestIdle: Connection | undefined;
  const stalled: Connection[] = [];
  for (const connection of candidates) {
    if (isIdle(connection)) {
      const isNew =
        connection.request === undefined && nowMs - connection.idleSinceMs < getStallMs(connection);
      if (!isNew && (longestIdle === undefined || isEvictedBefore(connection, longestIdle)))
        longestIdle = connection;
    } else if (
      isWaitingForClient(connection) &&
      nowMs - connection.progressAtMs >= getStallMs(connection)
    ) {
      stalled.push(connection);
    }
  }
  if (longestIdle !== undefined) return [longestIdle];
  return stalled.sort((a, b) => a.progressAtMs - b.progressAtMs);
};

const isEvictedBefore = (connection: Connection, otherConnection: Connection): boolean => {
  const connectionCountDifference =
    connection.address.connections.size - otherConnection.address.connections.size;
  return connectionCountDifference === 0
    ? connection.idleSinceMs < otherConnection.idleSinceMs
    : connectionCountDifference > 0;
};

/** Returns the address with the most connections. Ignores trusted proxies. */
export const findLargestAddress = (
  addresses: Iterable<ClientAddress>,
): ClientAddress | undefined => {
  let largest: ClientAddress | undefined;
  for (const address of addresses) {
    if (address.isExempt) continue;
    if (largest === undefined || address.connections.size > largest.connections.size) {
      largest = address;
    }
  }
  return largest;
};
