import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * The state of a connection: `receiving` headers or a body, `processing` (the server's turn),
 * `sending` (bytes wait for the client), `idle`, or a `stream`.
 */
export const connectionStates = ["idle", "receiving", "processing", "sending", "stream"] as const;
export type ConnectionState = (typeof connectionStates)[number];

/**
 * The minimum rate of a transfer after a grace period. Each byte extends the deadline by its time
 * at the minimum rate, up to one grace period from now. The kernel takes a response in large
 * pieces, so sending has the longer grace period.
 */
const minimumRates = {
  sending: { bytesPerSecond: 1_000, graceMs: 30_000 },
  receiving: { bytesPerSecond: 500, graceMs: 10_000 },
};

export type ClientAddress = { id: string; isExempt: boolean; connections: Set<Connection> };

export type Connection = {
  socket: Socket;
  address: ClientAddress;
  /** The responses that are not sent yet, in request order. */
  pendingResponses: ServerResponse[];
  /** The most recent request. */
  request: IncomingMessage | undefined;
  isStream: boolean;
  /** Bytes read when the connection last became idle. */
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

/** Whether the server reads no more of the body until it has processed what it has. */
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

/** Updates a connection's state, its progress and its deadline. */
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
  // Node itself closes connections whose headers take too long.
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
 * Returns the number of bytes that the kernel has accepted. The socket's count also includes bytes
 * that libuv still buffers, and only the handle knows how many those are. Node reads the same field
 * for its own timeouts.
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
