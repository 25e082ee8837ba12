import { ApiError } from "./api-error.ts";
import { handleErrorResponse } from "./call.ts";
import { createCsvLineCounter } from "./csv-line-counter.ts";

/** A file that ended before its end: nothing of it is kept. */
export class TruncatedDownloadError extends Error {
  override readonly name = "TruncatedDownloadError";
}

/** A file for which the browser has no room. */
export class InsufficientStorageError extends Error {
  override readonly name = "InsufficientStorageError";
}

/** How much of a file has come, and how many rows it will have, where that is known. */
export type DownloadProgress = {
  byteCount: number;
  rowCount: number;
  totalRowCount: number | undefined;
};
/** A whole file. */
export type DownloadedFile = { file: Blob; name: string; rowCount: number };

type DownloadOptions = { signal: AbortSignal; onProgress: (progress: DownloadProgress) => void };

/** What the page itself holds of a file at most; the browser keeps the rest, on its disk if need be. */
const bufferedBytesMax = 4 * 1_048_576;
const progressIntervalMsMin = 200;

/**
 * Fetches a CSV of any length, and tells how far it is. Answers a whole file or throws: `ApiError` for
 * a refusal, `TruncatedDownloadError` where the end is missing, and whatever `signal` was aborted with.
 */
export const download = async (url: string, options: DownloadOptions): Promise<DownloadedFile> => {
  const response = await fetch(url, { signal: options.signal, redirect: "manual" }).catch(() => {
    options.signal.throwIfAborted();
    throw new ApiError(0, [{ code: "UNREACHABLE", message: "" }]);
  });
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  // What stands before the service may answer in its own way, and then it names no file.
  if (!response.ok || response.body === null || name === undefined) {
    throw handleErrorResponse(response, await response.json().catch(() => undefined));
  }
  return { name, ...(await readBody(response, response.body, options)) };
};

const readBody = async (
  response: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { signal, onProgress }: DownloadOptions,
): Promise<Omit<DownloadedFile, "name">> => {
  const totalCountHeader = response.headers.get("X-Total-Count");
  const totalRowCount = totalCountHeader === null ? undefined : Number(totalCountHeader);
  const type = response.headers.get("Content-Type") ?? "";
  const lineCounter = createCsvLineCounter();
  // The first line names the columns.
  const rowCount = (): number => Math.max(0, lineCounter.lineCount() - 1);
  const blobBuilder = createBlobBuilder(type);
  let reportedAt = Number.NEGATIVE_INFINITY;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      signal.throwIfAborted();
      throw new TruncatedDownloadError();
    });
    if (done) break;
    lineCounter.add(value);
    await blobBuilder.add(value);
    if (performance.now() - reportedAt < progressIntervalMsMin) continue;
    reportedAt = performance.now();
    onProgress({ byteCount: blobBuilder.byteCount(), rowCount: rowCount(), totalRowCount });
  }
  signal.throwIfAborted();
  if (!lineCounter.isComplete() || rowCount() < (totalRowCount ?? 0))
    throw new TruncatedDownloadError();
  return { file: await blobBuilder.build(), rowCount: rowCount() };
};

/** Hands bytes to the browser in parts, and holds no more than one part of them. */
const createBlobBuilder = (type: string) => {
  const parts: Blob[] = [];
  let bufferedChunks: Uint8Array<ArrayBuffer>[] = [];
  let bufferedBytes = 0;
  let byteCount = 0;
  const flush = async (): Promise<void> => {
    if (bufferedBytes === 0) return;
    const part = new Blob(bufferedChunks);
    bufferedChunks = [];
    bufferedBytes = 0;
    // It is read once the browser has taken it over, and cannot be where there was no room.
    await part
      .slice(-1)
      .arrayBuffer()
      .catch(() => {
        throw new InsufficientStorageError();
      });
    parts.push(part);
  };
  return {
    add: async (bytes: Uint8Array<ArrayBuffer>): Promise<void> => {
      bufferedChunks.push(bytes);
      bufferedBytes += bytes.length;
      byteCount += bytes.length;
      if (bufferedBytes >= bufferedBytesMax) await flush();
    },
    byteCount: () => byteCount,
    build: async (): Promise<Blob> => {
      await flush();
      return new Blob(parts, { type });
    },
  };
};
