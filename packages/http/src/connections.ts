import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressBucketId } from "@payment-links/rate-limit";
import type { Clock } from "@payment-links/runtime";
import { answerRequestTimeout } from "./broken-request.ts";
import {
  type Address,
  type Connection,
  type ConnectionState,
  isBodyUnread,
  isIdle,
  measure,
  stateOf,
} from "./connection-progress.ts";
import { type StallMs, largestOf, victimsOf } from "./connection-room.ts";

/** How many connections and unread bodies a port holds, in total and per source address. */
export type ConnectionLimits = {
  inAll: number;
  /** An IPv6 /64 counts as one address. */
  perAddress: number;
  unreadBodiesInAll: number;
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
const stallMsOwn = 100;
/** A connection without progress for this long gives way to any other address. */
const stallMsOthers = 5_000;
/** An unread body without progress for this long gives way if there are too many. */
const stallMsBody = 1_000;
/** How many connections are measured at most to find one without progress. */
const measuredMax = 20;

type Options = {
  limits: ConnectionLimits;
  /** Whether the limits per address do not apply to an address, as for a trusted proxy. */
  isExempt: (address: string) => boolean;
  addressOf: (socket: Socket) => string | undefined;
  clock: Clock;
};

/** The connections of one port. */
type Port = Options & {
  /** Those that the limits count: all but streams. */
  counted: Set<Connection>;
  streams: Set<Connection>;
  addresses: Map<string, Address>;
  bySocket: Map<Socket, Connection>;
  ended: Map<EndReason, number>;
};

export type Connections = ReturnType<typeof createConnections>;

const portOf = new WeakMap<Socket, Port>();

/** Takes the connection of an endless answer out of those that the port's limits count. */
export const setApart = ({ req: { socket } }: ServerResponse): void => {
  const port = portOf.get(socket);
  const connection = port?.bySocket.get(socket);
  if (port === undefined || connection === undefined) return;
  forget(port, connection);
  connection.isStream = true;
  port.streams.add(connection);
};

/** Creates the bookkeeping of a port's connections: it limits, measures and ends them. */
export const createConnections = (options: Options) => {
  const port: Port = {
    ...options,
    counted: new Set(),
    streams: new Set(),
    addresses: new Map(),
    bySocket: new Map(),
    ended: new Map(endReasons.map((reason) => [reason, 0])),
  };
  return {
    /** Takes a new connection, in the place of another if the port or the address has no more. */
    accept: (socket: Socket) => accept(port, socket),
    /** Records that a request's head has arrived. Returns the answers under way on its connection. */
    begin: (req: IncomingMessage, res: ServerResponse) => begin(port, req, res),
    /** Measures every transfer, and ends those below the lowest rate. */
    sweep: () => sweep(port),
    answersOf: (socket: Socket): readonly ServerResponse[] =>
      port.bySocket.get(socket)?.answers ?? [],
    open: (): ReadonlyMap<Socket, Pick<Connection, "answers">> => port.bySocket,
    /** How many connections are open, by what they do. */
    states: (): Record<ConnectionState, number> => {
      const stream = port.streams.size;
      const states = { idle: 0, receiving: 0, processing: 0, sending: 0, stream };
      for (const connection of port.counted) states[stateOf(connection)] += 1;
      return states;
    },
    /** How many connections the server ended or refused, by reason. */
    ended: (): ReadonlyMap<EndReason, number> => port.ended,
  };
};

const count = ({ ended }: Port, reason: EndReason): void =>
  void ended.set(reason, (ended.get(reason) ?? 0) + 1);

const forget = ({ addresses, counted }: Port, connection: Connection): void => {
  if (!counted.delete(connection)) return;
  const { address } = connection;
  address.connections.delete(connection);
  if (address.connections.size === 0) addresses.delete(address.id);
};

const end = (port: Port, connection: Connection, reason: EndReason): void => {
  count(port, reason);
  forget(port, connection);
  const { socket, answers, state } = connection;
  // Only a reset frees what the kernel still holds for a client that does not read.
  if (state === "sending" || socket.writableLength > 0) socket.resetAndDestroy();
  else if (reason === "slow_body" && answers.length > 0) answerRequestTimeout(socket, answers);
  else socket.destroy();
};

const makeRoom = (port: Port, candidates: Iterable<Connection>, stallMsOf: StallMs): boolean => {
  const now = port.clock.elapsedMs();
  for (const victim of victimsOf(candidates, now, stallMsOf).slice(0, measuredMax)) {
    if (isIdle(victim)) {
      end(port, victim, "evicted_idle");
      return true;
    }
    // The last sweep may have been before its last progress.
    measure(victim, now);
    if (now - victim.progressAtMs < stallMsOf(victim)) continue;
    end(port, victim, "evicted_stalled");
    return true;
  }
  return false;
};

/**
 * An address that holds twice as many connections as the newcomer's loses its slowest, even one
 * that makes progress: otherwise a port full of clients that each send a byte now and then serves
 * nobody else.
 */
const makeRoomInTotal = (port: Port, newcomer: Address): boolean => {
  const largest = largestOf(port.addresses.values());
  const isUnfair =
    largest !== undefined && largest.connections.size >= 2 * (newcomer.connections.size + 1);
  return makeRoom(port, port.counted, ({ address }) => {
    if (isUnfair && address === largest) return 0;
    return address === newcomer ? stallMsOwn : stallMsOthers;
  });
};

/** All trusted proxies count as one address. */
const findAddress = ({ addresses, isExempt }: Port, ip: string): Address => {
  const isProxy = isExempt(ip);
  const id = isProxy ? "proxies" : addressBucketId(ip);
  return addresses.get(id) ?? { id, isExempt: isProxy, connections: new Set() };
};

const accept = (port: Port, socket: Socket): void => {
  const { addressOf, bySocket, clock, counted, limits, streams } = port;
  const address = findAddress(port, addressOf(socket) ?? "");
  const refused = whyRefused(port, address, limits);
  if (refused !== undefined) {
    count(port, refused);
    socket.destroy();
    return;
  }
  const connection = createConnection(socket, address, clock.elapsedMs());
  port.addresses.set(address.id, address);
  address.connections.add(connection);
  counted.add(connection);
  bySocket.set(socket, connection);
  portOf.set(socket, port);
  socket.once("close", () => {
    forget(port, connection);
    streams.delete(connection);
    bySocket.delete(socket);
  });
};

const whyRefused = (
  port: Port,
  address: Address,
  { inAll, perAddress }: ConnectionLimits,
): EndReason | undefined => {
  const isAtLimit = !address.isExempt && address.connections.size >= perAddress;
  if (isAtLimit && !makeRoom(port, address.connections, () => stallMsOwn)) return "refused_address";
  if (port.counted.size >= inAll && !makeRoomInTotal(port, address)) return "refused_total";
  return undefined;
};

const createConnection = (socket: Socket, address: Address, now: number): Connection => ({
  socket,
  address,
  answers: [],
  request: undefined,
  isStream: false,
  bytesReadWhenIdle: 0,
  idleSinceMs: now,
  state: "idle",
  bytes: 0,
  progressAtMs: now,
  deadlineMs: Infinity,
});

const begin = (
  { bySocket, clock }: Port,
  req: IncomingMessage,
  res: ServerResponse,
): ServerResponse[] => {
  const connection = bySocket.get(req.socket);
  if (connection === undefined) return [res];
  const { answers } = connection;
  connection.request = req;
  // A request behind one that is being answered is no progress of that answer.
  if (answers.length === 0) {
    connection.state = "processing";
    connection.progressAtMs = clock.elapsedMs();
  }
  answers.push(res);
  res.once("close", () => {
    answers.splice(answers.indexOf(res), 1);
    if (answers.length > 0) return;
    connection.bytesReadWhenIdle = req.socket.bytesRead;
    connection.idleSinceMs = clock.elapsedMs();
  });
  return answers;
};

const sweep = (port: Port): void => {
  const now = port.clock.elapsedMs();
  for (const connection of port.counted) {
    measure(connection, now);
    if (now < connection.deadlineMs) continue;
    end(port, connection, connection.state === "sending" ? "slow_response" : "slow_body");
  }
  endUnreadBodies(port, now);
};

/** Bodies that arrive take memory, so the slowest of too many end. */
const endUnreadBodies = (port: Port, now: number): void => {
  const { counted, limits } = port;
  const bodies = [...counted].filter((one) => one.state === "receiving" && isBodyUnread(one));
  let remaining = bodies.length;
  const remainingOf = new Map<Address, number>();
  for (const { address } of bodies) {
    remainingOf.set(address, (remainingOf.get(address) ?? 0) + 1);
  }
  bodies.sort((a, b) => a.progressAtMs - b.progressAtMs);
  for (const body of bodies) {
    const { address, progressAtMs } = body;
    const own = remainingOf.get(address) ?? 0;
    const isOver = !address.isExempt && own > limits.unreadBodiesPerAddress;
    if (!isOver && remaining <= limits.unreadBodiesInAll) continue;
    if (now - progressAtMs < stallMsBody) break;
    end(port, body, "unread_bodies");
    remaining -= 1;
    remainingOf.set(address, own - 1);
  }
};
