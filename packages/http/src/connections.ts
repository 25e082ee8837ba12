import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressBucketId } from "@payment-links/rate-limit";
import type { Clock } from "@payment-links/runtime";
import { sendRequestTimeout } from "./malformed-request.ts";
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

/** How many connections and unread bodies a port holds, in total and per source address. */
export type ConnectionLimits = {
  total: number;
  /** An IPv6 /64 counts as one address. */
  perAddress: number;
  unreadBodiesTotal: number;
  unreadBodiesPerAddress: number;
};

/** Why the server ended or refused a connection. */
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

/** How often the transfers are measured. */
export const sweepMs = 500;
/**
 * A connection without progress for this long gives way if its address holds too many. It is short,
 * so that an attacker from the same address, who connects again and again, does not shut it out.
 */
const stallMsSameAddress = 100;
/** A connection without progress for this long gives way to any other address. */
const stallMsOtherAddress = 5_000;
/** An unread body without progress for this long gives way if there are too many. */
const stallMsUnreadBody = 1_000;
/** How many connections are measured at most to find one without progress. */
const evictionAttemptsMax = 20;

type ConnectionsOptions = {
  limits: ConnectionLimits;
  /** Whether the limits per address do not apply to an address, as for a trusted proxy. */
  isExempt: (address: string) => boolean;
  getClientAddress: (socket: Socket) => string | undefined;
  clock: Clock;
};

/** The connections of one port. */
type Port = ConnectionsOptions & {
  /** Those that the limits count: all but streams. */
  countedConnections: Set<Connection>;
  streams: Set<Connection>;
  addresses: Map<string, ClientAddress>;
  connectionsBySocket: Map<Socket, Connection>;
  endCounts: Map<EndReason, number>;
};

export type Connections = ReturnType<typeof createConnections>;

const portBySocket = new WeakMap<Socket, Port>();

/** Takes the connection of an endless answer out of those that the port's limits count. */
export const exemptConnection = ({ req: { socket } }: ServerResponse): void => {
  const port = portBySocket.get(socket);
  const connection = port?.connectionsBySocket.get(socket);
  if (port === undefined || connection === undefined) return;
  stopCounting(port, connection);
  connection.isStream = true;
  port.streams.add(connection);
};

/** Creates the bookkeeping of a port's connections: it limits, measures and ends them. */
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
    /** Takes a new connection, in the place of another if the port or the address has no more. */
    accept: (socket: Socket) => acceptConnection(port, socket),
    /** Records that a request's head has arrived. Returns the answers under way on its connection. */
    registerRequest: (req: IncomingMessage, res: ServerResponse) => registerRequest(port, req, res),
    /** Measures every transfer, and ends those below the lowest rate. */
    endSlowConnections: () => endSlowConnections(port),
    getPendingResponses: (socket: Socket): readonly ServerResponse[] =>
      port.connectionsBySocket.get(socket)?.pendingResponses ?? [],
    getOpenConnections: (): ReadonlyMap<Socket, Pick<Connection, "pendingResponses">> =>
      port.connectionsBySocket,
    /** How many connections are open, by what they do. */
    countStates: (): Record<ConnectionState, number> => {
      const stream = port.streams.size;
      const counts = { idle: 0, receiving: 0, processing: 0, sending: 0, stream };
      for (const connection of port.countedConnections) counts[getState(connection)] += 1;
      return counts;
    },
    /** How many connections the server ended or refused, by reason. */
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
  // Only a reset frees what the kernel still holds for a client that does not read.
  if (state === "sending" || socket.writableLength > 0) socket.resetAndDestroy();
  else if (reason === "slow_body" && pendingResponses.length > 0)
    sendRequestTimeout(socket, pendingResponses);
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
    // The last sweep may have been before its last progress.
    measureProgress(candidate, nowMs);
    if (nowMs - candidate.progressAtMs < getStallMs(candidate)) continue;
    endConnection(port, candidate, "evicted_stalled");
    return true;
  }
  return false;
};

/**
 * An address that holds twice as many connections as the newcomer's loses its slowest, even one
 * that makes progress: otherwise a port full of clients that each send a byte now and then serves
 * nobody else.
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

/** All trusted proxies count as one address. */
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
  // A request behind one that is being answered is no progress of that answer.
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

/** Bodies that arrive take memory, so the slowest of too many end. */
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
