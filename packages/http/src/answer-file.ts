import type { Request, Response } from "express";
import { setApart } from "./connections.ts";
import type { ReadingPace } from "./reading-pace.ts";

/** A file that is written while it is sent: its name, its type, and its text part by part. */
export type StreamedFile = { name: string; type: string; chunks: () => AsyncIterable<string> };

/** The measurement of a file's reader. */
export type FileReader = {
  pace: ReadingPace;
  /** Receives how many bytes of the current part are not written yet. */
  onRemaining: (byteCount: number) => void;
};

/** Small enough that a slow reader shows progress, and that few bytes wait in the response. */
const pieceBytes = 16 * 1024;

/**
 * Answers a file to download. Requests the next part only once the reader has taken the one before, so that
 * a slow reader costs the memory of one part. If a part fails, the connection is cut: half a file never
 * looks whole. Returns whether all of it was sent; a reader who leaves is no failure.
 */
export const answerFile = async (
  req: Request,
  res: Response,
  { name, type, chunks }: StreamedFile,
  { pace, onRemaining }: FileReader,
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
  setApart(res);
  for await (const text of chunks()) {
    // Encoded first: a piece of a string could end in the middle of a character.
    const part = Buffer.from(text);
    for (let start = 0; start < part.length; start += pieceBytes) {
      if (res.destroyed) return false;
      const piece = part.subarray(start, start + pieceBytes);
      onRemaining(part.length - start - piece.length);
      const taken = untilTaken(res, (onTaken) => void res.write(piece, onTaken));
      await pace.wait(taken, piece.length);
    }
  }
  if (res.destroyed) return false;
  await pace.wait(
    untilTaken(res, (onTaken) => void res.end(onTaken)),
    0,
  );
  return res.writableFinished;
};

/** Waits until the system has taken what is written, or the response has closed. */
const untilTaken = (res: Response, write: (onTaken: () => void) => void): Promise<void> =>
  new Promise((resolve) => {
    const settle = () => {
      res.off("close", settle);
      resolve();
    };
    res.on("close", settle);
    write(settle);
  });
