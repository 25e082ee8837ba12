import type { Request, Response } from "express";
import { exemptConnection } from "./connections.ts";
import type { TransferRateMonitor } from "./transfer-rate-monitor.ts";

/** A file that is written while it is sent: its name, its type, and its text part by part. */
export type StreamedFile = { name: string; type: string; chunks: () => AsyncIterable<string> };

/** The measurement of a file's reader. */
export type DownloadProgress = {
  transferRate: TransferRateMonitor;
  /** Receives how many bytes of the current part are not written yet. */
  onRemainingBytes: (byteCount: number) => void;
};

/** Small enough that a slow reader shows progress, and that few bytes wait in the response. */
const sliceBytes = 16 * 1024;

/**
 * Answers a file to download. Requests the next part only once the reader has taken the one before, so that
 * a slow reader costs the memory of one part. If a part fails, the connection is cut: half a file never
 * looks whole. Returns whether all of it was sent; a reader who leaves is no failure.
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
  // The reader left before the first byte.
  if (res.destroyed) return false;
  // Exports have their own limits, so their connections count in no other, and end with them.
  res.setHeader("Connection", "close");
  exemptConnection(res);
  for await (const text of chunks()) {
    // Encoded first: a piece of a string could end in the middle of a character.
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

/** Waits until the system has taken what is written, or the response has closed. */
const waitForFlush = (res: Response, write: (onFlushed: () => void) => void): Promise<void> =>
  new Promise((resolve) => {
    const settle = () => {
      res.off("close", settle);
      resolve();
    };
    res.on("close", settle);
    write(settle);
  });
