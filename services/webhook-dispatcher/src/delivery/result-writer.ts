import { type Clock, type Log, afterMs, backoffMs } from "@payment-links/runtime";
import type { EndedAttempt } from "./record-ended-attempts.ts";

/** Writes ended attempts back: those that end soon after one another share a write. */
export type ResultWriter = {
  /**
   * Resolves once the result is stored, or once that is worth nothing, as the database was away.
   */
  write(ended: EndedAttempt): Promise<void>;
};

type ResultWriterOptions = {
  /**
   * Stores a batch in one transaction. Answers those that it could not store now, as somebody else's
   * transaction holds them.
   */
  saveBatch: (batch: readonly EndedAttempt[]) => Promise<readonly EndedAttempt[]>;
  /** Hears how many results wait no longer, batch by batch. */
  onWritten?: (count: number) => void;
  clock: Clock;
  log: Log;
};

type QueuedResult = { ended: EndedAttempt; resolve: () => void };

const batchMax = 500;
/**
 * A result waits this long for others, unless enough of them wait for a write that is worth it. A
 * write costs the same for one as for twenty, and nobody waits for it: the slot is free already. It
 * is real time, not the clock's.
 */
const lingerMs = 100;
const lingerResultsMax = 100;
const backoff = { initialMs: 100, maxMs: 2_000 };
/**
 * How long after its lease a result is worth writing: a 2xx counts until the next attempt begins, by
 * the default schedule half a minute after the lease at the soonest.
 */
const lateMsMax = 30_000;

const expiresAtMs = ({ leaseUntil }: EndedAttempt): number => leaseUntil.getTime() + lateMsMax;

/**
 * Makes the writer. Its caller bounds the queue by beginning nothing while too many results wait.
 */
export const createResultWriter = (options: ResultWriterOptions): ResultWriter => {
  const { saveBatch, clock, log, onWritten = () => {} } = options;
  const queue: QueuedResult[] = [];
  /** Tried again with each batch, beside those that are new, so that they hold up nobody else's. */
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
    if (results > 0) log.error({ results }, "results were held by others until worth nothing");
    return unexpiredAttempts;
  };

  // While the database is away the batch waits. Once the next attempts may begin there is no point.
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
        await clock.sleepUntil(afterMs(clock, waitMs), neverAbortedSignal);
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

const neverAbortedSignal = new AbortController().signal;
