import type { EachBatchPayload, OffsetsByTopicPartition } from "kafkajs";
import type { Counter } from "prom-client";
import type { Log } from "@payment-links/runtime";
import type { TopicPartition } from "./bus.ts";
import { retryMs } from "./retry-at.ts";

/** Commits a member's offsets without blocking its fetches. */
export type KafkaCommits = {
  /**
   * Registers a batch. Returns a function to call with the next offset as the batch progresses.
   * That function has no effect once the member has rejoined the group.
   */
  trackBatch(batch: EachBatchPayload): (nextOffset: bigint) => void;
  /** Commits all pending offsets. Resolves when Kafka has answered, and never throws. */
  flush(): Promise<void>;
  /**
   * Called on each join. Drops the pending offsets, because their partitions may have a new owner.
   */
  onJoin(): void;
  /** Stops background commits. */
  stop(): void;
};

export type KafkaCommitsOptions = {
  group: string;
  log: Log;
  failureCounter: Counter;
  /** Called after several consecutive failures, when the consumer should be replaced. */
  onGiveUp: (error: unknown) => void;
};

/**
 * A broker answers the requests of a connection in order, so a commit after each batch would delay
 * the next fetch. Kafka's offsets can lag behind, because the actual positions are stored with the
 * state.
 */
const commitIntervalMs = 1_000;
const consecutiveFailuresMax = 5;

type HandledOffset = TopicPartition & { offset: string };

/**
 * Commits a member's progress once a second, one commit at a time. A failed commit is retried with
 * growing backoff and includes the progress made since. Only `flush` can start while another commit
 * is running. That is safe, because both use the same connection and arrive in order.
 */
export const createKafkaCommits = (options: KafkaCommitsOptions): KafkaCommits => {
  const { group, log, failureCounter, onGiveUp } = options;
  /** The latest handled offset of each partition, until its commit is confirmed. */
  const pendingOffsets = new Map<string, HandledOffset>();
  let commit: ((offsets: OffsetsByTopicPartition) => Promise<void>) | undefined;
  let joinCount = 0;
  let consecutiveFailures = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const flush = async (): Promise<void> => {
    const sentOffsets = new Map(pendingOffsets);
    if (sentOffsets.size === 0 || commit === undefined) return;
    const joinAtStart = joinCount;
    try {
      await commit(groupByTopic([...sentOffsets.values()]));
      if (joinAtStart === joinCount) consecutiveFailures = 0;
      for (const [partitionKey, handledOffset] of sentOffsets)
        if (pendingOffsets.get(partitionKey) === handledOffset) pendingOffsets.delete(partitionKey);
    } catch (error) {
      failureCounter.inc({ group });
      if (joinAtStart !== joinCount) return;
      consecutiveFailures += 1;
      const logFields = { err: error, group, failures: consecutiveFailures };
      log.warn(logFields, "offset commit failed, retrying");
      if (consecutiveFailures >= consecutiveFailuresMax && !isStopped) onGiveUp(error);
    }
  };

  const schedule = () => {
    if (isStopped || timer !== undefined || pendingOffsets.size === 0) return;
    const waitMs = consecutiveFailures === 0 ? commitIntervalMs : retryMs(consecutiveFailures);
    timer = setTimeout(() => {
      void flush().finally(() => {
        timer = undefined;
        schedule();
      });
    }, waitMs);
  };

  return {
    trackBatch: (payload) => {
      const { topic, partition } = payload.batch;
      const joinAtStart = joinCount;
      // Unlike the consumer's own method, this commits all partitions of the member and works while
      // the consumer stops.
      commit = (offsets) => payload.commitOffsetsIfNecessary(offsets);
      return (nextOffset) => {
        if (joinAtStart !== joinCount) return;
        pendingOffsets.set(`${topic}/${partition}`, {
          topic,
          partition,
          offset: String(nextOffset),
        });
        schedule();
      };
    },
    flush,
    onJoin: () => {
      joinCount += 1;
      consecutiveFailures = 0;
      pendingOffsets.clear();
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};

const groupByTopic = (handledOffsets: readonly HandledOffset[]): OffsetsByTopicPartition => ({
  topics: Object.entries(Object.groupBy(handledOffsets, ({ topic }) => topic)).map(
    ([topic, partitions = []]) => ({
      topic,
      partitions: partitions.map(({ partition, offset }) => ({ partition, offset })),
    }),
  ),
});
