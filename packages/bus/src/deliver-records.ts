import { type Log, systemClock } from "@payment-links/runtime";
import type { BatchHandler, BatchResult, ReceivedRecord } from "./bus.ts";
import { retryAt } from "./retry-at.ts";

/**
 * Delivers records until all are handled, the signal aborts or the handler requests a rewind. Calls
 * `onHandled` after each handled part. If the handler throws or does not handle any record, it
 * receives the same records again after a growing backoff.
 */
export const deliverRecords = async (options: {
  records: readonly ReceivedRecord[];
  handle: BatchHandler;
  signal: AbortSignal;
  log: Log | undefined;
  onHandled?: (lastRecord: ReceivedRecord) => void;
}): Promise<BatchResult> => {
  const { records, handle, signal, log } = options;
  let handledTotal = 0;
  let failureCount = 0;
  while (handledTotal < records.length && !signal.aborted) {
    const { handledCount, rewindReason } = await callHandler(
      handle,
      records.slice(handledTotal),
      signal,
      log,
    );
    if (rewindReason !== undefined) return { handledCount: handledTotal, rewindReason };
    if (handledCount === 0 && !signal.aborted) {
      failureCount += 1;
      await systemClock.sleepUntil(retryAt(systemClock, failureCount), signal);
      continue;
    }
    failureCount = 0;
    handledTotal += handledCount;
    const lastRecord = records[handledTotal - 1];
    if (handledCount > 0 && lastRecord !== undefined) options.onHandled?.(lastRecord);
  }
  return { handledCount: handledTotal };
};

const callHandler = async (
  handle: BatchHandler,
  records: readonly ReceivedRecord[],
  signal: AbortSignal,
  log: Log | undefined,
): Promise<BatchResult> => {
  try {
    return await handle(records, signal);
  } catch (error) {
    const topic = records[0]?.topic;
    log?.error({ err: error, topic }, "batch handler failed, redelivering its records");
    return { handledCount: 0 };
  }
};
