import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * The state of a connection: `receiving` (headers or a body), `processing` (the server works on the
 * request), `sending` (bytes wait for the client), `idle`, or `stream`.
 */
export const connectionStates = ["idle", "receiving", "processing", "sending", "stream"] as const;
export type ConnectionState = (typeof connectionStates)[number];

/**
 * The minimum transfer rates. Each byte extends a connection's deadline by the time that it takes
 * at the minimum rate. The deadline is never more than one grace period away. Sending has the
 * longer grace period, because the kernel accepts a response in large pieces.
 */
const minimumRates = {
  sending: { bytesPerSecond: 1_000, graceMs: 30_000 },
  receiving: { bytesPerSecond: 500, graceMs: 10_000 },
};

export type ClientAddress = { id: string; isExempt: boolean; connections: Set<Connection> };

export type Connection = {
  socket: Socket;
  address: ClientAddress;
  /** The responses that have not been sent yet, in request order. */
  pendingResponses: ServerResponse[];
  /** The most recent request. */
  request: IncomingMessage | undefined;
  isStream: boolean;
  /** The number of bytes that had been read when the connection last became idle. */
  bytesReadWhenIdle: number;
  idleSinceMs: number;
  /** When the state was last measured. */
  state: ConnectionState;
  bytes: number;
  progressAtMs: number;
  deadlineMs: number;
};

export const isBodyUnread = ({ request }: Connection): boolean =>
  request !== undefined && !request.complete;

/**
 * Returns whether the server has paused reading the body until it has processed what it already
 * read.
 */
const isPausedByServer = ({ request }: Connection): boolean =>
  request !== undefined &&
  (request.isPaused() || request.readableLength >= request.readableHighWaterMark);

export const isIdle = (connection: Connection): boolean =>
  connection.pendingResponses.length === 0 &&
  connection.socket.writableLength === 0 &&
  connection.state !== "receiving" &&
  !isBodyUnread(connection);

export const isWaitingForClient = (connection: Connection): boolean =>
  connection.socket.writableLength > 0 ||
  (isBodyUnread(connection) && !isPausedByServer(connection)) ||
  (connection.pendingResponses.length === 0 && connection.state === "receiving");

export const getState = (connection: Connection): ConnectionState => {
  const { pendingResponses, bytesReadWhenIdle, isStream, socket } = connection;
  if (isStream) return "stream";
  if (socket.writableLength > 0) return "sending";
  if (isBodyUnread(connection)) {
    return isPausedByServer(connection) ? "processing" : "receiving";
  }
  if (pendingResponses.length > 0) return "processing";
  return socket.bytesRead > bytesReadWhenIdle ? "receiving" : "idle";
};

/** Updates a connection's state, progress and deadline. */
export const measureProgress = (connection: Connection, nowMs: number): void => {
  const state = getState(connection);
  const bytes =
    state === "sending" ? getFlushedBytes(connection.socket) : connection.socket.bytesRead;
  const isSameState = state === connection.state;
  const transferredBytes = isSameState ? bytes - connection.bytes : 0;
  if (!isSameState || transferredBytes > 0) connection.progressAtMs = nowMs;
  connection.deadlineMs = getDeadlineMs(connection, {
    state,
    nowMs,
    transferredBytes,
    isSameState,
  });
  connection.state = state;
  connection.bytes = bytes;
};

type Measurement = {
  state: ConnectionState;
  nowMs: number;
  transferredBytes: number;
  isSameState: boolean;
};

const getDeadlineMs = (
  connection: Connection,
  { state, nowMs, transferredBytes, isSameState }: Measurement,
): number => {
  // Node closes connections whose headers take too long, so there is no deadline here.
  if (state === "receiving" && !isBodyUnread(connection)) return Infinity;
  if (state !== "sending" && state !== "receiving") return Infinity;
  const { bytesPerSecond, graceMs } = minimumRates[state];
  if (!isSameState || connection.deadlineMs === Infinity) return nowMs + graceMs;
  return Math.min(
    connection.deadlineMs + (transferredBytes / bytesPerSecond) * 1_000,
    nowMs + graceMs,
  );
};

/**
 * Returns the number of bytes that the kernel has accepted. The socket's own count also includes
 * bytes that libuv still buffers. Only the handle knows how many those are. Node reads the same
 * field for its own timeouts.
 */
const getFlushedBytes = (socket: Socket): number => {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle !== "object" || handle === null) return socket.bytesWritten;
  return readNumberField(handle, "bytesWritten") - readNumberField(handle, "writeQueueSize");
};

const readNumberField = (handle: object, field: string): number => {
  const value: unknown = Reflect.get(handle, field);
  return typeof value === "number" ? value : 0;
};
