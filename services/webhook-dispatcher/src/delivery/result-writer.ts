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
  /**
   * Stores a batch in one transaction. Answers those that it could not store now, as somebody else's
   * transaction holds them.
   */
  keep: (batch: readonly EndedAttempt[]) => Promise<readonly EndedAttempt[]>;
  /** Hears how many results wait no longer, batch by batch. */
  written?: (count: number) => void;
  clock: Clock;
  log: Log;
};

type Waiting = { ended: EndedAttempt; done: () => void };

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

const worthUntilMs = ({ leaseUntil }: EndedAttempt): number => leaseUntil.getTime() + lateMsMax;

/**
 * Makes the writer. Its caller bounds the queue by beginning nothing while too many results wait.
 */
export const createResultWriter = (options: ResultWriterOptions): ResultWriter => {
  const { keep, clock, log, written = () => {} } = options;
  const queue: Waiting[] = [];
  /** Tried again with each batch, beside those that are new, so that they hold up nobody else's. */
  const held: Waiting[] = [];
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

  const whatIsWorth = (left: readonly EndedAttempt[]): readonly EndedAttempt[] => {
    const nowMs = clock.now().getTime();
    const worth = left.filter((ended) => nowMs < worthUntilMs(ended));
    const results = left.length - worth.length;
    if (results > 0) log.error({ results }, "results were held by others until worth nothing");
    return worth;
  };

  // While the database is away the batch waits. Once the next attempts may begin there is no point.
  const keepWithin = async (batch: readonly EndedAttempt[]): Promise<readonly EndedAttempt[]> => {
    const untilMs = Math.max(...batch.map(worthUntilMs));
    for (let failures = 1; ; failures += 1) {
      try {
        return whatIsWorth(await keep(batch));
      } catch (error) {
        const waitMs = backoffMs(failures, backoff);
        const isOver = clock.now().getTime() + waitMs >= untilMs;
        log.error({ err: error, results: batch.length, isOver }, "results could not be written");
        if (isOver) return [];
        await clock.until(afterMs(clock, waitMs), neverAborted);
      }
    }
  };

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (queue.length + held.length > 0) {
      if (queue.length < lingerResultsMax) await linger();
      const batch = [...queue.splice(0, batchMax), ...held.splice(0, batchMax)];
      const left = new Set(await keepWithin(batch.map((entry) => entry.ended)));
      held.push(...batch.filter(({ ended }) => left.has(ended)));
      const over = batch.filter(({ ended }) => !left.has(ended));
      written(over.length);
      for (const entry of over) entry.done();
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
