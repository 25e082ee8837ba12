import type { ServerResponse } from "node:http";
import { exemptConnection } from "./connections.ts";

/** How often `maintainStream` must be called, at most this long after the previous call. */
export const heartbeatIntervalMs = 1_000;
/** The longest time without data on a stream, so that neither clients nor proxies time out. */
const silenceMsMax = 15_000;
/** How long a client has to read the last bytes of an ended stream. */
const closeMsMax = 10_000;

/** The response of a stream of server-sent events. */
export type StreamResponse = {
  res: ServerResponse;
  /** Times of the clock's `elapsedMs`. */
  writtenAtMs: number;
  /** When the stream ends, or has ended. */
  endsAtMs: number;
};

/** Sets the headers of a stream. The first write sends them. */
export const writeStreamHead = (res: ServerResponse): void => {
  res.setHeader("Content-Type", "text/event-stream");
  res.setHeader("Cache-Control", "no-store, no-transform");
  res.setHeader("X-Accel-Buffering", "no");
  // Each stream has its own connection, so the connection closes when the stream ends.
  res.setHeader("Connection", "close");
  exemptConnection(res);
};

/** Ends a stream. Returns whether it was still open. */
export const endStream = (stream: StreamResponse, nowMs: number): boolean => {
  if (stream.res.writableEnded) return false;
  stream.endsAtMs = nowMs;
  stream.res.end();
  return true;
};

/**
 * Sends a comment on a silent stream, ends an expired one, and closes an ended one that is not
 * read. Returns whether the stream has expired now.
 */
export const maintainStream = (
  stream: StreamResponse,
  nowMs: number,
  writeComment: (comment: string) => void,
): boolean => {
  const { endsAtMs, res, writtenAtMs } = stream;
  if (res.writableEnded) {
    if (nowMs >= endsAtMs + closeMsMax) res.destroy();
  } else if (nowMs >= endsAtMs) return endStream(stream, nowMs);
  else if (nowMs >= writtenAtMs + silenceMsMax - heartbeatIntervalMs) writeComment(":\n\n");
  return false;
};
