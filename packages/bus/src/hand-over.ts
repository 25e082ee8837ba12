import { type Log, systemClock } from "@payment-links/runtime";
import type { BatchHandler, HandledRecords, ReceivedRecord } from "./bus.ts";
import { retryAt } from "./retry-at.ts";

/**
 * Hands records over until all are handled, the signal aborts or the group turns out to be behind
 * them, and tells of each part that is done. A handler that throws or does nothing gets the same
 * records again after a growing wait.
 */
export const handOver = async (options: {
  records: readonly ReceivedRecord[];
  handle: BatchHandler;
  signal: AbortSignal;
  log: Log | undefined;
  handled?: (last: ReceivedRecord) => void;
}): Promise<HandledRecords> => {
  const { records, handle, signal, log } = options;
  let doneCount = 0;
  let failures = 0;
  while (doneCount < records.length && !signal.aborted) {
    const { handledCount, goBack } = await attempt(handle, records.slice(doneCount), signal, log);
    if (goBack !== undefined) return { handledCount: doneCount, goBack };
    if (handledCount === 0 && !signal.aborted) {
      failures += 1;
      await systemClock.until(retryAt(systemClock, failures), signal);
      continue;
    }
    failures = 0;
    doneCount += handledCount;
    const last = records[doneCount - 1];
    if (handledCount > 0 && last !== undefined) options.handled?.(last);
  }
  return { handledCount: doneCount };
};

const attempt = async (
  handle: BatchHandler,
  records: readonly ReceivedRecord[],
  signal: AbortSignal,
  log: Log | undefined,
): Promise<HandledRecords> => {
  try {
    return await handle(records, signal);
  } catch (error) {
    const topic = records[0]?.topic;
    log?.error({ err: error, topic }, "a batch handler failed; it gets the records again");
    return { handledCount: 0 };
  }
};
