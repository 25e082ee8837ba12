import type { Request, Response } from "express";
import { exemptConnection } from "./connections.ts";
import type { TransferRateMonitor } from "./transfer-rate-monitor.ts";

/** A file that is generated while it is sent: its name, its media type and its text in chunks. */
export type StreamedFile = { name: string; type: string; chunks: () => AsyncIterable<string> };

/** Tracks the progress of a download. */
export type DownloadProgress = {
  transferRate: TransferRateMonitor;
  /** Called with the number of bytes of the current chunk that are not written yet. */
  onRemainingBytes: (byteCount: number) => void;
};

/** Small enough that a slow client shows progress and that few bytes are buffered in the response. */
const sliceBytes = 16 * 1024;

/**
 * Sends a file as a download. Requests the next chunk only once the client has taken the previous
 * one, so a slow client costs the memory of one chunk. If a chunk fails, the connection is closed,
 * so that a partial file never looks complete. Returns whether all of it was sent; a client that
 * disconnects is not an error.
 */
export const sendFile = async (
  req: Request,
  res: Response,
  { name, type, chunks }: StreamedFile,
  { transferRate, onRemainingBytes }: DownloadProgress,
): Promise<boolean> => {
  res.setHeader("Content-Type", type);
  res.setHeader("Content-Disposition", `attachment; filename="${name}"`);
  if (req.method === "HEAD") {
    res.end();
    return true;
  }
  // The client left before the first byte.
  if (res.destroyed) return false;
  // Exports have their own limits, so their connections are exempt from the others and end with the
  // export.
  res.setHeader("Connection", "close");
  exemptConnection(res);
  for await (const text of chunks()) {
    // Encoded first: slicing a string could split a character.
    const part = Buffer.from(text);
    for (let start = 0; start < part.length; start += sliceBytes) {
      if (res.destroyed) return false;
      const slice = part.subarray(start, start + sliceBytes);
      onRemainingBytes(part.length - start - slice.length);
      const flushed = waitForFlush(res, (onFlushed) => void res.write(slice, onFlushed));
      await transferRate.trackTransfer(flushed, slice.length);
    }
  }
  if (res.destroyed) return false;
  await transferRate.trackTransfer(
    waitForFlush(res, (onFlushed) => void res.end(onFlushed)),
    0,
  );
  return res.writableFinished;
};

/** Waits until the operating system has accepted the written bytes, or the response has closed. */
const waitForFlush = (res: Response, write: (onFlushed: () => void) => void): Promise<void> =>
  new Promise((resolve) => {
    const settle = () => {
      res.off("close", settle);
      resolve();
    };
    res.on("close", settle);
    write(settle);
  });
