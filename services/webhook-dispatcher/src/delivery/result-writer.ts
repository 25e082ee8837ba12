import { type Clock, type Log, afterMs, backoffMs } from "@payment-links/runtime";
import type { EndedAttempt } from "./record-ended-attempts.ts";

/** Writes the results of attempts in batches. */
export type ResultWriter = {
  /**
   * Resolves when the result is stored, or when the writer gives up because the database was
   * unavailable for too long.
   */
  write(ended: EndedAttempt): Promise<void>;
};

type ResultWriterOptions = {
  /** Stores a batch in one transaction. Returns the results that another transaction has locked. */
  saveBatch: (batch: readonly EndedAttempt[]) => Promise<readonly EndedAttempt[]>;
  /** Called after each batch with the number of results that no longer wait. */
  onWritten?: (count: number) => void;
  clock: Clock;
  log: Log;
};

type QueuedResult = { ended: EndedAttempt; resolve: () => void };

const batchMax = 500;
/**
 * How long a result waits for more results, unless the queue reaches `lingerResultsMax`. Writing
 * one result costs as much as writing twenty. The wait does not delay attempts, because the slot is
 * already free. This is real time, not the time of `clock`.
 */
const lingerMs = 100;
const lingerResultsMax = 100;
const backoff = { initialMs: 100, maxMs: 2_000 };
/**
 * How long after the expiry of its lease a result can still be written. A 2xx is valid until the
 * next attempt starts. With the default schedule, that is at least 30 s after the expiry.
 */
const lateMsMax = 30_000;

const expiresAtMs = ({ leaseUntil }: EndedAttempt): number => leaseUntil.getTime() + lateMsMax;

/**
 * Creates the writer. The caller limits the length of the queue: it does not start attempts while
 * too many results wait.
 */
export const createResultWriter = (options: ResultWriterOptions): ResultWriter => {
  const { saveBatch, clock, log, onWritten = () => {} } = options;
  const queue: QueuedResult[] = [];
  /**
   * Results that were locked. They are retried with each batch, so that they do not delay other
   * results.
   */
  const retryQueue: QueuedResult[] = [];
  let isWriting = false;
  let flushNow = () => {};

  const linger = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, lingerMs);
      flushNow = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const dropExpired = (unsavedAttempts: readonly EndedAttempt[]): readonly EndedAttempt[] => {
    const nowMs = clock.now().getTime();
    const unexpiredAttempts = unsavedAttempts.filter((ended) => nowMs < expiresAtMs(ended));
    const results = unsavedAttempts.length - unexpiredAttempts.length;
    if (results > 0) log.error({ results }, "locked results expired, dropping them");
    return unexpiredAttempts;
  };

  // Waits while the database is unavailable, until all results of the batch have expired.
  const saveWithRetry = async (
    batch: readonly EndedAttempt[],
  ): Promise<readonly EndedAttempt[]> => {
    const deadlineMs = Math.max(...batch.map(expiresAtMs));
    for (let failures = 1; ; failures += 1) {
      try {
        return dropExpired(await saveBatch(batch));
      } catch (error) {
        const waitMs = backoffMs(failures, backoff);
        const isOver = clock.now().getTime() + waitMs >= deadlineMs;
        log.error({ err: error, results: batch.length, isOver }, "results could not be written");
        if (isOver) return [];
        await clock.sleepUntil(afterMs(clock, waitMs));
      }
    }
  };

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (queue.length + retryQueue.length > 0) {
      if (queue.length < lingerResultsMax) await linger();
      const batch = [...queue.splice(0, batchMax), ...retryQueue.splice(0, batchMax)];
      const unsavedAttempts = new Set(await saveWithRetry(batch.map((entry) => entry.ended)));
      retryQueue.push(...batch.filter(({ ended }) => unsavedAttempts.has(ended)));
      const finishedResults = batch.filter(({ ended }) => !unsavedAttempts.has(ended));
      onWritten(finishedResults.length);
      for (const entry of finishedResults) entry.resolve();
    }
    isWriting = false;
  };

  return {
    write: (ended) =>
      new Promise((resolve) => {
        queue.push({ ended, resolve });
        if (queue.length >= lingerResultsMax) flushNow();
        if (!isWriting) void writeAll();
      }),
  };
};
