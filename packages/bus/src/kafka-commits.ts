import type { EachBatchPayload, OffsetsByTopicPartition } from "kafkajs";
import type { Counter } from "prom-client";
import type { Log } from "@payment-links/runtime";
import type { TopicPartition } from "./bus.ts";
import { retryMs } from "./retry-at.ts";

/** Commits a member's offsets beside its fetching. */
export type KafkaCommits = {
  /**
   * Takes a batch in. What it answers is to be told how far the batch's partition is handled, and
   * heeds nothing once the group has been joined anew.
   */
  trackBatch(batch: EachBatchPayload): (nextOffset: bigint) => void;
  /** Commits what is not committed yet. Ends when Kafka has answered, and throws nothing. */
  flush(): Promise<void>;
  /** Told at each join: what is not committed is up to whoever has the partitions now. */
  onJoin(): void;
  /** Commits nothing more in the background. */
  stop(): void;
};

export type KafkaCommitsOptions = {
  group: string;
  log: Log;
  failureCounter: Counter;
  /** Called when commits have failed so often in a row that another member should try. */
  onGiveUp: (error: unknown) => void;
};

/**
 * A broker answers a connection's requests one after the other, so a commit behind each batch would
 * hold up the next fetch. Kafka's offsets may lag: positions lie with the state.
 */
const commitIntervalMs = 1_000;
const consecutiveFailuresMax = 5;

type HandledOffset = TopicPartition & { offset: string };

/**
 * Commits once a second how far a member has come, one commit at a time. A commit that fails is
 * tried again after growing waits, with what was reached since. Only a flush may overtake the one
 * under way: it goes over the same connection, and so lands after it.
 */
export const createKafkaCommits = (options: KafkaCommitsOptions): KafkaCommits => {
  const { group, log, failureCounter, onGiveUp } = options;
  /** What is handled and not known to be committed, by partition. */
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
      log.warn(logFields, "offsets could not be committed; they are committed again");
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
      // It commits for the whole member, and also while that stops, unlike the consumer's own.
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
