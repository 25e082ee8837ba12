import { type Applier, type Chunk, applyChunk, applyChunks } from "./apply-chunk.ts";

/** Takes chunks of all partitions, and applies those that come together in one transaction. */
export type Gatherer = {
  /** Ends once the chunk is settled; throws as {@link applyChunk} does. */
  apply(chunk: Chunk): Promise<void>;
};

/**
 * Records in one transaction: enough to share its cost, and few enough to hold locks for
 * milliseconds only.
 */
export const chunkRecordsMax = 250;
const transactionsAtOnceMax = 3;

type Waiting = { chunk: Chunk; resolve: () => void; reject: (error: unknown) => void };

/**
 * A fetch brings few records of each of many partitions. One transaction for each partition would cost
 * many times what one for all of them does. So what is handed over in one turn of the event loop, or
 * waits meanwhile for a transaction to end, goes together. If that fails, each partition goes by
 * itself: a record that cannot be applied holds up its own partition alone. `pace` is awaited before
 * each transaction.
 */
export const gatherChunks = (
  applier: Applier,
  pace: (() => Promise<void>) | undefined,
): Gatherer => {
  const waiting: Waiting[] = [];
  let runningCount = 0;
  let isScheduled = false;

  const start = () => {
    isScheduled = false;
    while (runningCount < transactionsAtOnceMax && waiting.length > 0) {
      runningCount += 1;
      void run(takeFitting(waiting)).finally(() => {
        runningCount -= 1;
        start();
      });
    }
  };

  const run = async (taken: readonly Waiting[]): Promise<void> => {
    try {
      await pace?.();
      const chunks = taken.map(({ chunk }) => chunk).filter(({ signal }) => !signal.aborted);
      if (chunks.length > 1 && (await applyChunks(applier, chunks))) {
        for (const { resolve } of taken) resolve();
        return;
      }
      const left = [...taken];
      await Promise.all(Array.from({ length: transactionsAtOnceMax }, () => applyEach(left)));
    } catch (error) {
      for (const { reject } of taken) reject(error);
    }
  };

  const applyEach = async (left: Waiting[]): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { chunk, reject, resolve } = next;
      await applyChunk(applier, chunk).then(resolve, reject);
    }
  };

  return {
    apply: (chunk) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.push({ chunk, resolve, reject });
      if (!isScheduled) setImmediate(start);
      isScheduled = true;
      return promise;
    },
  };
};

/** Always one, then as many as fit. In one order, so that two members do not lock crosswise. */
const takeFitting = (waiting: Waiting[]): Waiting[] => {
  let recordCount = 0;
  const end = waiting.findIndex(({ chunk }, at) => {
    recordCount += chunk.readings.length;
    return at > 0 && recordCount > chunkRecordsMax;
  });
  const taken = waiting.splice(0, end === -1 ? waiting.length : end);
  return taken.toSorted((one, other) => compareText(placeOf(one), placeOf(other)));
};

const compareText = (one: string, other: string): number => (one < other ? -1 : 1);

const placeOf = ({ chunk }: Waiting): string => {
  const first = chunk.readings[0]?.record;
  return `${first?.topic ?? ""}/${first?.partition ?? 0}`;
};
