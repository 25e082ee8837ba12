import { ApiError } from "./api-error.ts";
import { tellError } from "./call.ts";
import { countLines } from "./count-lines.ts";

/** A file that ended before its end: nothing of it is kept. */
export class CutOffError extends Error {
  override readonly name = "CutOffError";
}

/** A file for which the browser has no room. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";
}

/** How much of a file has come, and how many rows it will have, where that is known. */
export type Progress = { byteCount: number; rowCount: number; rowTotal: number | undefined };
/** A whole file. */
export type Downloaded = { file: Blob; name: string; rowCount: number };

type DownloadOptions = { signal: AbortSignal; onProgress: (progress: Progress) => void };

/** What the page itself holds of a file at most; the browser keeps the rest, on its disk if need be. */
const heldBytesMax = 4 * 1_048_576;
const tellMsMin = 200;

/**
 * Fetches a CSV of any length, and tells how far it is. Answers a whole file or throws: `ApiError` for
 * a refusal, `CutOffError` where the end is missing, and whatever `signal` was aborted with.
 */
export const download = async (address: string, options: DownloadOptions): Promise<Downloaded> => {
  const answer = await fetch(address, { signal: options.signal, redirect: "manual" }).catch(() => {
    options.signal.throwIfAborted();
    throw new ApiError(0, [{ code: "UNREACHABLE", message: "" }]);
  });
  const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
  // What stands before the service may answer in its own way, and then it names no file.
  if (!answer.ok || answer.body === null || name === undefined) {
    throw tellError(answer, await answer.json().catch(() => undefined));
  }
  return { name, ...(await readFile(answer, answer.body, options)) };
};

const readFile = async (
  answer: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { signal, onProgress }: DownloadOptions,
): Promise<Omit<Downloaded, "name">> => {
  const told = answer.headers.get("X-Total-Count");
  const rowTotal = told === null ? undefined : Number(told);
  const type = answer.headers.get("Content-Type") ?? "";
  const lines = countLines();
  // The first line names the columns.
  const rowCount = (): number => Math.max(0, lines.lineCount() - 1);
  const kept = keepParts(type);
  let toldAt = Number.NEGATIVE_INFINITY;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      signal.throwIfAborted();
      throw new CutOffError();
    });
    if (done) break;
    lines.add(value);
    await kept.add(value);
    if (performance.now() - toldAt < tellMsMin) continue;
    toldAt = performance.now();
    onProgress({ byteCount: kept.byteCount(), rowCount: rowCount(), rowTotal });
  }
  signal.throwIfAborted();
  if (!lines.isWhole() || rowCount() < (rowTotal ?? 0)) throw new CutOffError();
  return { file: await kept.end(), rowCount: rowCount() };
};

/** Hands bytes to the browser in parts, and holds no more than one part of them. */
const keepParts = (type: string) => {
  const parts: Blob[] = [];
  let held: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let byteCount = 0;
  const keep = async (): Promise<void> => {
    if (heldBytes === 0) return;
    const part = new Blob(held);
    held = [];
    heldBytes = 0;
    // It is read once the browser has taken it over, and cannot be where there was no room.
    await part
      .slice(-1)
      .arrayBuffer()
      .catch(() => {
        throw new NoRoomError();
      });
    parts.push(part);
  };
  return {
    add: async (bytes: Uint8Array<ArrayBuffer>): Promise<void> => {
      held.push(bytes);
      heldBytes += bytes.length;
      byteCount += bytes.length;
      if (heldBytes >= heldBytesMax) await keep();
    },
    byteCount: () => byteCount,
    end: async (): Promise<Blob> => {
      await keep();
      return new Blob(parts, { type });
    },
  };
};
