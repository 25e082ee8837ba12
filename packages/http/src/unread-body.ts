import type { IncomingMessage } from "node:http";
import { bodyBytesMax } from "./parse-request.ts";

/**
 * How many bytes of a body are read and discarded, and for how long, before the connection ends.
 */
const discardBytesMax = 16 * 1024 * 1024;
const discardMsMax = 2_000;

/**
 * Returns whether a response is sent before a large body, or a body of unknown length, has arrived.
 * For a small body, Node reads the rest itself and keeps the connection open.
 */
export const hasLargeUnreadBody = (req: IncomingMessage): boolean => {
  if (req.complete) return false;
  const { "content-length": length, "transfer-encoding": encoding } = req.headers;
  return encoding !== undefined || Number(length ?? 0) > bodyBytesMax;
};

/** Reads and discards what a client still sends, up to the limits. */
export const discardBody = (req: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    let discardedBytes = 0;
    const countChunk = (chunk: Buffer) => {
      discardedBytes += chunk.length;
      if (discardedBytes > discardBytesMax) stopReading();
    };
    const stopReading = () => {
      clearTimeout(timer);
      req.off("data", countChunk).off("close", stopReading).pause();
      resolve();
    };
    const timer = setTimeout(stopReading, discardMsMax);
    req.on("data", countChunk).once("close", stopReading).resume();
  });
