import type { Request, Response } from "express";
import { exemptConnection } from "./connections.ts";
import type { TransferRateMonitor } from "./transfer-rate-monitor.ts";

/** A file that is generated while it is sent: its name, its media type and its text in chunks. */
export type StreamedFile = { name: string; type: string; chunks: () => AsyncIterable<string> };

/** Tracks the progress of a download. */
export type DownloadProgress = {
  transferRate: TransferRateMonitor;
  /** Called with the number of bytes of the current chunk that have not been written yet. */
  onRemainingBytes: (byteCount: number) => void;
};

/**
 * Slices are small, so that progress is visible even with a slow client and few bytes are buffered.
 */
const sliceBytes = 16 * 1024;

/**
 * Sends a file as a download. Requests the next chunk only when the client has taken the previous
 * one, so a slow client needs memory for only one chunk. If a chunk fails, the connection is
 * closed, so that a partial file never looks complete. Returns whether the whole file was sent. It
 * is not an error if the client disconnects.
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
  // The client disconnected before the first byte.
  if (res.destroyed) return false;
  // Exports have their own limits. Their connections are exempt from the port's limits and close
  // when the export ends.
  res.setHeader("Connection", "close");
  exemptConnection(res);
  for await (const text of chunks()) {
    // The text is encoded before it is sliced, because slicing a string could split a character.
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
