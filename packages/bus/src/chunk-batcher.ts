import { type ConsumerContext, type Chunk, applyChunk, applyChunks } from "./apply-chunk.ts";

/**
 * Collects the chunks of all partitions and applies those that arrive together in one transaction.
 */
export type ChunkBatcher = {
  /** Resolves once the chunk is processed; throws like {@link applyChunk}. */
  apply(chunk: Chunk): Promise<void>;
};

/**
 * The maximum number of records per transaction. It is large enough to share the cost of a
 * transaction and small enough to hold locks for only milliseconds.
 */
export const chunkRecordsMax = 250;
const concurrentTransactionsMax = 3;

type PendingChunk = { chunk: Chunk; resolve: () => void; reject: (error: unknown) => void };

/**
 * Creates the batcher. A fetch returns a few records from each of many partitions, and a
 * transaction for each partition would cost many times as much as one for all of them. Chunks
 * therefore share a transaction if they arrive in the same turn of the event loop, or while all
 * transaction slots are busy.
 *
 * If a shared transaction fails, each partition is applied separately, so a failing record delays
 * only its own partition. `waitForCapacity` is awaited before each transaction.
 */
export const createChunkBatcher = (
  context: ConsumerContext,
  waitForCapacity: (() => Promise<void>) | undefined,
): ChunkBatcher => {
  const pendingChunks: PendingChunk[] = [];
  let runningCount = 0;
  let isScheduled = false;

  const startBatches = () => {
    isScheduled = false;
    while (runningCount < concurrentTransactionsMax && pendingChunks.length > 0) {
      runningCount += 1;
      void runBatch(takeBatch(pendingChunks)).finally(() => {
        runningCount -= 1;
        startBatches();
      });
    }
  };

  const runBatch = async (batch: readonly PendingChunk[]): Promise<void> => {
    try {
      await waitForCapacity?.();
      const chunks = batch.map(({ chunk }) => chunk).filter(({ signal }) => !signal.aborted);
      if (chunks.length > 1 && (await applyChunks(context, chunks))) {
        for (const { resolve } of batch) resolve();
        return;
      }
      const remainingChunks = [...batch];
      await Promise.all(
        Array.from({ length: concurrentTransactionsMax }, () => applySeparately(remainingChunks)),
      );
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const applySeparately = async (remainingChunks: PendingChunk[]): Promise<void> => {
    for (
      let pending = remainingChunks.shift();
      pending !== undefined;
      pending = remainingChunks.shift()
    ) {
      const { chunk, reject, resolve } = pending;
      await applyChunk(context, chunk).then(resolve, reject);
    }
  };

  return {
    apply: (chunk) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      pendingChunks.push({ chunk, resolve, reject });
      if (!isScheduled) setImmediate(startBatches);
      isScheduled = true;
      return promise;
    },
  };
};

/**
 * Takes one chunk and further ones that fit. Sorts them so that two members lock rows in the same
 * order and cannot deadlock.
 */
const takeBatch = (pendingChunks: PendingChunk[]): PendingChunk[] => {
  let recordCount = 0;
  const end = pendingChunks.findIndex(({ chunk }, index) => {
    recordCount += chunk.parsedRecords.length;
    return index > 0 && recordCount > chunkRecordsMax;
  });
  const batch = pendingChunks.splice(0, end === -1 ? pendingChunks.length : end);
  return batch.toSorted((a, b) => compareText(toPartitionKey(a), toPartitionKey(b)));
};

const compareText = (a: string, b: string): number => (a < b ? -1 : 1);

const toPartitionKey = ({ chunk }: PendingChunk): string => {
  const first = chunk.parsedRecords[0]?.record;
  return `${first?.topic ?? ""}/${first?.partition ?? 0}`;
};
