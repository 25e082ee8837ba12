import { ApiError } from "./api-error.ts";
import { handleErrorResponse } from "./call.ts";
import { createCsvLineCounter } from "./csv-line-counter.ts";

/** The download ended early. No part of the file is saved. */
export class TruncatedDownloadError extends Error {
  override readonly name = "TruncatedDownloadError";
}

/** The browser has too little storage for the file. */
export class InsufficientStorageError extends Error {
  override readonly name = "InsufficientStorageError";
}

/** The progress of a download. `totalRowCount` is undefined if the service does not send it. */
export type DownloadProgress = {
  byteCount: number;
  rowCount: number;
  totalRowCount: number | undefined;
};
/** A complete file. */
export type DownloadedFile = { file: Blob; name: string; rowCount: number };

type DownloadOptions = { signal: AbortSignal; onProgress: (progress: DownloadProgress) => void };

/**
 * The maximum number of bytes that the page buffers. The browser stores the rest, on disk if
 * necessary.
 */
const bufferedBytesMax = 4 * 1_048_576;
const progressIntervalMsMin = 200;

/**
 * Downloads a CSV of any length and reports the progress. Returns the complete file or throws:
 * `ApiError` for an error response, `TruncatedDownloadError` if the file is incomplete, and the
 * signal's reason after an abort.
 */
export const download = async (url: string, options: DownloadOptions): Promise<DownloadedFile> => {
  const response = await fetch(url, { signal: options.signal, redirect: "manual" }).catch(() => {
    options.signal.throwIfAborted();
    throw new ApiError(0, [{ code: "UNREACHABLE", message: "" }]);
  });
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  // A response without a file name comes from a proxy in front of the service.
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
  // The first line is the header.
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

/** Passes bytes to the browser in parts. The page buffers at most one part. */
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
    // Reading the last byte proves that the browser stored the part. The read fails if storage is
    // full.
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
