import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Request, Response } from "express";
import { setSendGrace } from "./connections.ts";

/** A file that is written while it is sent: its name, its type, and its text piece by piece. */
export type StreamedFile = { name: string; type: string; chunks: () => AsyncIterable<string> };

/** A reader who takes nothing for so long has gone. */
const stallMsMaxDefault = 60_000;

/**
 * Answers a file to keep. The next piece is asked for only once the one before has been taken, so that
 * a slow reader costs the memory of a few. If a piece fails, the connection is cut: half a file never
 * looks whole. Answers whether all of it was sent; a reader who leaves is no failure.
 */
export const answerFile = async (
  req: Request,
  res: Response,
  { name, type, chunks }: StreamedFile,
  stallMsMax = stallMsMaxDefault,
): Promise<boolean> => {
  res.setHeader("Content-Type", type);
  res.setHeader("Content-Disposition", `attachment; filename="${name}"`);
  if (req.method === "HEAD") {
    res.end();
    return true;
  }
  // Its reader has left while it was not yet known what to tell.
  if (res.destroyed) return false;
  res.setTimeout(stallMsMax, () => res.destroy());
  setSendGrace(res, stallMsMax);
  try {
    await pipeline(Readable.from(chunks()), res);
    return true;
  } catch (error) {
    if (!isReaderGone(error)) throw error;
    return false;
  }
};

const isReaderGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE";
