import { setTimeout } from "node:timers/promises";
import { type Clock, type Log, afterMs, backoffMs } from "@payment-links/runtime";
import type { EndedAttempt } from "./end-attempts.ts";

/** Writes ended attempts back: those that end while a write is under way share the next one. */
export type ResultWriter = {
  /**
   * Resolves once the result is stored, or once its lease has run out while the database was away.
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
 * How long the next write waits after one that held many results, so that it holds more. A lone
 * result never waits. It is real time, not the clock's.
 */
const lingerMs = 10;
const lingerResultsMin = 5;
const backoff = { firstMs: 100, mostMs: 2_000 };

/**
 * Makes the writer. Its caller bounds the queue by beginning nothing while too many results wait.
 */
export const createResultWriter = (options: ResultWriterOptions): ResultWriter => {
  const { keep, clock, log, written = () => {} } = options;
  const queue: { ended: EndedAttempt; done: () => void }[] = [];
  let isWriting = false;

  // While the database is away the batch waits. Once the leases are over there is no point: the
  // attempts count as interrupted anyway.
  const keepWithin = async (batch: readonly EndedAttempt[]): Promise<void> => {
    const leaseUntilMs = Math.max(...batch.map((ended) => ended.leaseUntil.getTime()));
    for (let failures = 1; ; failures += 1) {
      try {
        return await keep(batch);
      } catch (error) {
        const waitMs = backoffMs(failures, backoff);
        const isOver = clock.now().getTime() + waitMs >= leaseUntilMs;
        log.error({ err: error, results: batch.length, isOver }, "results could not be written");
        if (isOver) return;
        await clock.until(afterMs(clock, waitMs), neverAborted);
      }
    }
  };

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (queue.length > 0) {
      const batch = queue.splice(0, batchMax);
      await keepWithin(batch.map((entry) => entry.ended));
      written(batch.length);
      for (const entry of batch) entry.done();
      if (batch.length >= lingerResultsMin) await setTimeout(lingerMs);
    }
    isWriting = false;
  };

  return {
    write: (ended) =>
      new Promise((done) => {
        queue.push({ ended, done });
        if (!isWriting) void writeAll();
      }),
  };
};

const neverAborted = new AbortController().signal;
