import type { EachBatchPayload, OffsetsByTopicPartition } from "kafkajs";
import type { Counter } from "prom-client";
import type { Log } from "@payment-links/runtime";
import type { Place } from "./bus.ts";
import { retryMs } from "./retry-at.ts";

/** Commits a member's offsets beside its fetching. */
export type KafkaCommits = {
  /**
   * Takes a batch in. What it answers is to be told how far the batch's partition is handled, and
   * heeds nothing once the group has been joined anew.
   */
  enter(batch: EachBatchPayload): (nextOffset: bigint) => void;
  /** Commits what is not committed yet. Ends when Kafka has answered, and throws nothing. */
  flush(): Promise<void>;
  /** Told at each join: what is not committed is up to whoever has the partitions now. */
  joined(): void;
  /** Commits nothing more in the background. */
  end(): void;
};

export type KafkaCommitsOptions = {
  group: string;
  log: Log;
  failures: Counter;
  /** Called when commits have failed so often in a row that another member should try. */
  giveUp: (error: unknown) => void;
};

/**
 * A broker answers a connection's requests one after the other, so a commit behind each batch would
 * hold up the next fetch. Kafka's offsets may lag: positions lie with the state.
 */
const commitEveryMs = 1_000;
const failuresMax = 5;

type Reached = Place & { offset: string };

/**
 * Commits once a second how far a member has come, one commit at a time. A commit that fails is
 * tried again after growing waits, with what was reached since. Only a flush may overtake the one
 * under way: it goes over the same connection, and so lands after it.
 */
export const createKafkaCommits = (options: KafkaCommitsOptions): KafkaCommits => {
  const { group, log, failures, giveUp } = options;
  /** What is handled and not known to be committed, by partition. */
  const open = new Map<string, Reached>();
  let commit: ((offsets: OffsetsByTopicPartition) => Promise<void>) | undefined;
  let joinCount = 0;
  let failuresInRow = 0;
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;

  const flush = async (): Promise<void> => {
    const sent = new Map(open);
    if (sent.size === 0 || commit === undefined) return;
    const ofJoin = joinCount;
    try {
      await commit(byTopic([...sent.values()]));
      if (ofJoin === joinCount) failuresInRow = 0;
      for (const [name, reached] of sent) if (open.get(name) === reached) open.delete(name);
    } catch (error) {
      failures.inc({ group });
      if (ofJoin !== joinCount) return;
      failuresInRow += 1;
      const told = { err: error, group, failures: failuresInRow };
      log.warn(told, "offsets could not be committed; they are committed again");
      if (failuresInRow >= failuresMax && !isEnded) giveUp(error);
    }
  };

  const schedule = () => {
    if (isEnded || timer !== undefined || open.size === 0) return;
    const waitMs = failuresInRow === 0 ? commitEveryMs : retryMs(failuresInRow);
    timer = setTimeout(() => {
      void flush().finally(() => {
        timer = undefined;
        schedule();
      });
    }, waitMs);
  };

  return {
    enter: (payload) => {
      const { topic, partition } = payload.batch;
      const ofJoin = joinCount;
      // It commits for the whole member, and also while that stops, unlike the consumer's own.
      commit = (offsets) => payload.commitOffsetsIfNecessary(offsets);
      return (nextOffset) => {
        if (ofJoin !== joinCount) return;
        open.set(`${topic}/${partition}`, { topic, partition, offset: String(nextOffset) });
        schedule();
      };
    },
    flush,
    joined: () => {
      joinCount += 1;
      failuresInRow = 0;
      open.clear();
    },
    end: () => {
      isEnded = true;
      clearTimeout(timer);
    },
  };
};

const byTopic = (reached: readonly Reached[]): OffsetsByTopicPartition => ({
  topics: Object.entries(Object.groupBy(reached, ({ topic }) => topic)).map(
    ([topic, partitions = []]) => ({
      topic,
      partitions: partitions.map(({ partition, offset }) => ({ partition, offset })),
    }),
  ),
});
