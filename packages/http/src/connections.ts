import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressBucketId } from "@payment-links/rate-limit";
import type { Clock } from "@payment-links/runtime";
import { sendErrorAndClose } from "./malformed-request.ts";
import {
  type ClientAddress,
  type Connection,
  type ConnectionState,
  isBodyUnread,
  isIdle,
  measureProgress,
  getState,
} from "./connection-progress.ts";
import {
  type GetStallMs,
  findLargestAddress,
  listEvictionCandidates,
} from "./connection-eviction.ts";

/** The maximum number of connections and unread bodies of a port, in total and per source address. */
export type ConnectionLimits = {
  total: number;
  /** An IPv6 /64 network is treated as one address. */
  perAddress: number;
  unreadBodiesTotal: number;
  unreadBodiesPerAddress: number;
};

/** Why the server closed or rejected a connection. */
const endReasons = [
  "slow_response",
  "slow_body",
  "unread_bodies",
  "evicted_idle",
  "evicted_stalled",
  "refused_address",
  "refused_total",
] as const;
export type EndReason = (typeof endReasons)[number];

/** How often transfers are measured. */
export const sweepMs = 500;
/**
 * A connection that makes no progress for this long is evicted if its address is at its limit. The
 * time is short, so that an attacker with the same address cannot block others by reconnecting
 * constantly.
 */
const stallMsSameAddress = 100;
/**
 * A connection that makes no progress for this long can be evicted for a connection from any other
 * address.
 */
const stallMsOtherAddress = 5_000;
/** If there are too many unread bodies, one that makes no progress for this long is ended. */
const stallMsUnreadBody = 1_000;
/** The maximum number of connections that are measured to find one without progress. */
const evictionAttemptsMax = 20;

type ConnectionsOptions = {
  limits: ConnectionLimits;
  /** Returns whether the address is exempt from the per-address limits, like a trusted proxy. */
  isExempt: (address: string) => boolean;
  getClientAddress: (socket: Socket) => string | undefined;
  clock: Clock;
};

/** The connections of one port. */
type Port = ConnectionsOptions & {
  /** All connections except streams. The limits apply to these. */
  countedConnections: Set<Connection>;
  streams: Set<Connection>;
  addresses: Map<string, ClientAddress>;
  connectionsBySocket: Map<Socket, Connection>;
  endCounts: Map<EndReason, number>;
};

export type Connections = ReturnType<typeof createConnections>;

const portBySocket = new WeakMap<Socket, Port>();

/** Exempts the connection of an endless response or an export from the port's limits. */
export const exemptConnection = ({ req: { socket } }: ServerResponse): void => {
  const port = portBySocket.get(socket);
  const connection = port?.connectionsBySocket.get(socket);
  if (port === undefined || connection === undefined) return;
  stopCounting(port, connection);
  connection.isStream = true;
  port.streams.add(connection);
};

/** Creates the connection tracker of a port, which limits, measures and closes connections. */
export const createConnections = (options: ConnectionsOptions) => {
  const port: Port = {
    ...options,
    countedConnections: new Set(),
    streams: new Set(),
    addresses: new Map(),
    connectionsBySocket: new Map(),
    endCounts: new Map(endReasons.map((reason) => [reason, 0])),
  };
  return {
    /**
     * Accepts a new connection. If the port or the address is at its limit, evicts another
     * connection or rejects the new one.
     */
    accept: (socket: Socket) => acceptConnection(port, socket),
    /** Records a new request. Returns the pending responses of its connection. */
    registerRequest: (req: IncomingMessage, res: ServerResponse) => registerRequest(port, req, res),
    /** Measures every transfer and closes those below the minimum rate. */
    endSlowConnections: () => endSlowConnections(port),
    getPendingResponses: (socket: Socket): readonly ServerResponse[] =>
      port.connectionsBySocket.get(socket)?.pendingResponses ?? [],
    /** Returns whether the connection's response is exempt from the limits (`exemptConnection`). */
    isStream: (socket: Socket): boolean => port.connectionsBySocket.get(socket)?.isStream ?? false,
    getOpenConnections: (): ReadonlyMap<Socket, Pick<Connection, "pendingResponses">> =>
      port.connectionsBySocket,
    /** Returns the number of open connections by state. */
    countStates: (): Record<ConnectionState, number> => {
      const stream = port.streams.size;
      const counts = { idle: 0, receiving: 0, processing: 0, sending: 0, stream };
      for (const connection of port.countedConnections) counts[getState(connection)] += 1;
      return counts;
    },
    /** Returns how many connections the server closed or rejected, by reason. */
    getEndCounts: (): ReadonlyMap<EndReason, number> => port.endCounts,
  };
};

const countEnded = ({ endCounts }: Port, reason: EndReason): void =>
  void endCounts.set(reason, (endCounts.get(reason) ?? 0) + 1);

const stopCounting = ({ addresses, countedConnections }: Port, connection: Connection): void => {
  if (!countedConnections.delete(connection)) return;
  const { address } = connection;
  address.connections.delete(connection);
  if (address.connections.size === 0) addresses.delete(address.id);
};

const endConnection = (port: Port, connection: Connection, reason: EndReason): void => {
  countEnded(port, reason);
  stopCounting(port, connection);
  const { socket, pendingResponses, state } = connection;
  // A reset is necessary to free what the kernel still buffers for a client that does not read.
  if (state === "sending" || socket.writableLength > 0) socket.resetAndDestroy();
  else if (reason === "slow_body" && pendingResponses.length > 0)
    sendErrorAndClose("REQUEST_TIMEOUT", socket, pendingResponses);
  else socket.destroy();
};

const evictConnection = (
  port: Port,
  candidates: Iterable<Connection>,
  getStallMs: GetStallMs,
): boolean => {
  const nowMs = port.clock.elapsedMs();
  for (const candidate of listEvictionCandidates(candidates, nowMs, getStallMs).slice(
    0,
    evictionAttemptsMax,
  )) {
    if (isIdle(candidate)) {
      endConnection(port, candidate, "evicted_idle");
      return true;
    }
    // The connection may have made progress since the last sweep.
    measureProgress(candidate, nowMs);
    if (nowMs - candidate.progressAtMs < getStallMs(candidate)) continue;
    endConnection(port, candidate, "evicted_stalled");
    return true;
  }
  return false;
};

/**
 * Evicts a connection when the port is full. If one address has at least twice as many connections
 * as the new connection's address, its slowest connection is evicted, even if it makes progress.
 * Otherwise, clients that each send a byte now and then could occupy the whole port.
 */
const evictForTotalLimit = (port: Port, newAddress: ClientAddress): boolean => {
  const largestAddress = findLargestAddress(port.addresses.values());
  const isUnfair =
    largestAddress !== undefined &&
    largestAddress.connections.size >= 2 * (newAddress.connections.size + 1);
  return evictConnection(port, port.countedConnections, ({ address }) => {
    if (isUnfair && address === largestAddress) return 0;
    return address === newAddress ? stallMsSameAddress : stallMsOtherAddress;
  });
};

/** All trusted proxies share one entry. */
const findOrCreateAddress = ({ addresses, isExempt }: Port, ip: string): ClientAddress => {
  const isProxy = isExempt(ip);
  const id = isProxy ? "proxies" : addressBucketId(ip);
  return addresses.get(id) ?? { id, isExempt: isProxy, connections: new Set() };
};

const acceptConnection = (port: Port, socket: Socket): void => {
  const { getClientAddress, connectionsBySocket, clock, countedConnections, limits, streams } =
    port;
  const address = findOrCreateAddress(port, getClientAddress(socket) ?? "");
  const rejectionReason = findRejectionReason(port, address, limits);
  if (rejectionReason !== undefined) {
    countEnded(port, rejectionReason);
    socket.destroy();
    return;
  }
  const connection = createConnection(socket, address, clock.elapsedMs());
  port.addresses.set(address.id, address);
  address.connections.add(connection);
  countedConnections.add(connection);
  connectionsBySocket.set(socket, connection);
  portBySocket.set(socket, port);
  socket.once("close", () => {
    stopCounting(port, connection);
    streams.delete(connection);
    connectionsBySocket.delete(socket);
  });
};

const findRejectionReason = (
  port: Port,
  address: ClientAddress,
  { total, perAddress }: ConnectionLimits,
): EndReason | undefined => {
  const isAtLimit = !address.isExempt && address.connections.size >= perAddress;
  if (isAtLimit && !evictConnection(port, address.connections, () => stallMsSameAddress))
    return "refused_address";
  if (port.countedConnections.size >= total && !evictForTotalLimit(port, address))
    return "refused_total";
  return undefined;
};

const createConnection = (socket: Socket, address: ClientAddress, nowMs: number): Connection => ({
  socket,
  address,
  pendingResponses: [],
  request: undefined,
  isStream: false,
  bytesReadWhenIdle: 0,
  idleSinceMs: nowMs,
  state: "idle",
  bytes: 0,
  progressAtMs: nowMs,
  deadlineMs: Infinity,
});

const registerRequest = (
  { connectionsBySocket, clock }: Port,
  req: IncomingMessage,
  res: ServerResponse,
): ServerResponse[] => {
  const connection = connectionsBySocket.get(req.socket);
  if (connection === undefined) return [res];
  const { pendingResponses } = connection;
  connection.request = req;
  // A pipelined request does not count as progress of the response before it.
  if (pendingResponses.length === 0) {
    connection.state = "processing";
    connection.progressAtMs = clock.elapsedMs();
  }
  pendingResponses.push(res);
  res.once("close", () => {
    pendingResponses.splice(pendingResponses.indexOf(res), 1);
    if (pendingResponses.length > 0) return;
    connection.bytesReadWhenIdle = req.socket.bytesRead;
    connection.idleSinceMs = clock.elapsedMs();
  });
  return pendingResponses;
};

const endSlowConnections = (port: Port): void => {
  const nowMs = port.clock.elapsedMs();
  for (const connection of port.countedConnections) {
    measureProgress(connection, nowMs);
    if (nowMs < connection.deadlineMs) continue;
    endConnection(port, connection, connection.state === "sending" ? "slow_response" : "slow_body");
  }
  endUnreadBodies(port, nowMs);
};

/** Ends the slowest unread bodies while there are too many, because they use memory. */
const endUnreadBodies = (port: Port, nowMs: number): void => {
  const { countedConnections, limits } = port;
  const receivingConnections = [...countedConnections].filter(
    (connection) => connection.state === "receiving" && isBodyUnread(connection),
  );
  let remainingCount = receivingConnections.length;
  const remainingByAddress = new Map<ClientAddress, number>();
  for (const { address } of receivingConnections) {
    remainingByAddress.set(address, (remainingByAddress.get(address) ?? 0) + 1);
  }
  receivingConnections.sort((a, b) => a.progressAtMs - b.progressAtMs);
  for (const connection of receivingConnections) {
    const { address, progressAtMs } = connection;
    const remainingOfAddress = remainingByAddress.get(address) ?? 0;
    const isAddressOverLimit =
      !address.isExempt && remainingOfAddress > limits.unreadBodiesPerAddress;
    if (!isAddressOverLimit && remainingCount <= limits.unreadBodiesTotal) continue;
    if (nowMs - progressAtMs < stallMsUnreadBody) break;
    endConnection(port, connection, "unread_bodies");
    remainingCount -= 1;
    remainingByAddress.set(address, remainingOfAddress - 1);
  }
};
