import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * What a connection does: `receiving` a head or a body, `processing` (the server's turn),
 * `sending` (bytes wait for the client), or it is `idle` or carries a `stream`.
 */
export const connectionStates = ["idle", "receiving", "processing", "sending", "stream"] as const;
export type ConnectionState = (typeof connectionStates)[number];

/**
 * The lowest rate of a transfer, after a grace period. Each byte extends the deadline by its time
 * at the lowest rate, up to one grace period from now. A kernel takes an answer in large pieces,
 * so sending has the longer grace.
 */
const rates = {
  sending: { bytesPerSecond: 1_000, graceMs: 30_000 },
  receiving: { bytesPerSecond: 500, graceMs: 10_000 },
};

export type Address = { id: string; isExempt: boolean; connections: Set<Connection> };

export type Connection = {
  socket: Socket;
  address: Address;
  /** The answers that are not sent yet, in the order of their requests. */
  answers: ServerResponse[];
  /** The last request. */
  request: IncomingMessage | undefined;
  isStream: boolean;
  /** Bytes read when the connection last became idle. */
  bytesReadWhenIdle: number;
  idleSinceMs: number;
  /** The last measurement. */
  state: ConnectionState;
  bytes: number;
  progressAtMs: number;
  deadlineMs: number;
};

export const isBodyUnread = ({ request }: Connection): boolean =>
  request !== undefined && !request.complete;

/** The server takes no more of the body until it has used what it has. */
const isPausedByServer = ({ request }: Connection): boolean =>
  request !== undefined &&
  (request.isPaused() || request.readableLength >= request.readableHighWaterMark);

export const isIdle = (connection: Connection): boolean =>
  connection.answers.length === 0 &&
  connection.socket.writableLength === 0 &&
  connection.state !== "receiving" &&
  !isBodyUnread(connection);

export const isWaitingForClient = (connection: Connection): boolean =>
  connection.socket.writableLength > 0 ||
  (isBodyUnread(connection) && !isPausedByServer(connection)) ||
  (connection.answers.length === 0 && connection.state === "receiving");

export const stateOf = (connection: Connection): ConnectionState => {
  const { answers, bytesReadWhenIdle, isStream, socket } = connection;
  if (isStream) return "stream";
  if (socket.writableLength > 0) return "sending";
  if (isBodyUnread(connection)) {
    return isPausedByServer(connection) ? "processing" : "receiving";
  }
  if (answers.length > 0) return "processing";
  return socket.bytesRead > bytesReadWhenIdle ? "receiving" : "idle";
};

/** Measures a connection: its state, its progress, and the time by which it must go on. */
export const measure = (connection: Connection, now: number): void => {
  const state = stateOf(connection);
  const bytes = state === "sending" ? bytesTaken(connection.socket) : connection.socket.bytesRead;
  const isSame = state === connection.state;
  const moved = isSame ? bytes - connection.bytes : 0;
  if (!isSame || moved > 0) connection.progressAtMs = now;
  connection.deadlineMs = deadlineOf(connection, { state, now, moved, isSame });
  connection.state = state;
  connection.bytes = bytes;
};

type Measured = { state: ConnectionState; now: number; moved: number; isSame: boolean };

const deadlineOf = (connection: Connection, { state, now, moved, isSame }: Measured): number => {
  // Node ends a head that takes too long.
  if (state === "receiving" && !isBodyUnread(connection)) return Infinity;
  if (state !== "sending" && state !== "receiving") return Infinity;
  const { bytesPerSecond, graceMs } = rates[state];
  if (!isSame || connection.deadlineMs === Infinity) return now + graceMs;
  return Math.min(connection.deadlineMs + (moved / bytesPerSecond) * 1_000, now + graceMs);
};

/**
 * The bytes that the kernel has taken. What the socket counts as written includes what libuv still
 * holds; only the handle knows how much that is. Node itself reads the same field for its timeouts.
 */
const bytesTaken = (socket: Socket): number => {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle !== "object" || handle === null) return socket.bytesWritten;
  return numberIn(handle, "bytesWritten") - numberIn(handle, "writeQueueSize");
};

const numberIn = (handle: object, field: string): number => {
  const value: unknown = Reflect.get(handle, field);
  return typeof value === "number" ? value : 0;
};
