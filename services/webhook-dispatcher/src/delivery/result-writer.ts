import { type Clock, type Log, afterMs, backoffMs } from "@payment-links/runtime";
import type { EndedAttempt } from "./end-attempts.ts";

/** Writes ended attempts back: those that end soon after one another share a write. */
export type ResultWriter = {
  /**
   * Resolves once the result is stored, or once that is worth nothing, as the database was away.
   */
  write(ended: EndedAttempt): Promise<void>;
};

type ResultWriterOptions = {
  /** Stores a batch in one transaction. */
  keep: (batch: readonly EndedAttempt[]) => Promise<void>;
  /** Hears how many results wait no longer, batch by batch. */
  written?: (count: number) => void;
  clock: Clock;
  log: Log;
};

const batchMax = 500;
/**
 * A result waits this long for others, unless enough of them wait for a write that is worth it. A
 * write costs the same for one as for twenty, and nobody waits for it: the slot is free already. It
 * is real time, not the clock's.
 */
const lingerMs = 100;
const lingerResultsMax = 100;
const backoff = { firstMs: 100, mostMs: 2_000 };
/**
 * How long after its lease a result is worth writing: a 2xx counts until the next attempt begins, by
 * the default schedule half a minute after the lease at the soonest.
 */
const lateMsMax = 30_000;

/**
 * Makes the writer. Its caller bounds the queue by beginning nothing while too many results wait.
 */
export const createResultWriter = (options: ResultWriterOptions): ResultWriter => {
  const { keep, clock, log, written = () => {} } = options;
  const queue: { ended: EndedAttempt; done: () => void }[] = [];
  let isWriting = false;
  let lingerNoMore = () => {};

  const linger = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, lingerMs);
      lingerNoMore = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  // While the database is away the batch waits. Once the next attempts may begin there is no point.
  const keepWithin = async (batch: readonly EndedAttempt[]): Promise<void> => {
    const worthUntilMs = Math.max(...batch.map((ended) => ended.leaseUntil.getTime())) + lateMsMax;
    for (let failures = 1; ; failures += 1) {
      try {
        return await keep(batch);
      } catch (error) {
        const waitMs = backoffMs(failures, backoff);
        const isOver = clock.now().getTime() + waitMs >= worthUntilMs;
        log.error({ err: error, results: batch.length, isOver }, "results could not be written");
        if (isOver) return;
        await clock.until(afterMs(clock, waitMs), neverAborted);
      }
    }
  };

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (queue.length > 0) {
      if (queue.length < lingerResultsMax) await linger();
      const batch = queue.splice(0, batchMax);
      await keepWithin(batch.map((entry) => entry.ended));
      written(batch.length);
      for (const entry of batch) entry.done();
    }
    isWriting = false;
  };

  return {
    write: (ended) =>
      new Promise((done) => {
        queue.push({ ended, done });
        if (queue.length >= lingerResultsMax) lingerNoMore();
        if (!isWriting) void writeAll();
      }),
  };
};

const neverAborted = new AbortController().signal;
