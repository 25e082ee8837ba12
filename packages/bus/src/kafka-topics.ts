import { setTimeout } from "node:timers/promises";
import type { Admin } from "kafkajs";
import { topicSettings } from "@payment-links/contracts";
import { getDeadLetterTopic } from "./dead-letters.ts";
import { type KafkaConnection, createKafkaClient } from "./kafka-client.ts";

type TopicSettings = Readonly<
  Record<string, { partitions: number; config: Readonly<Record<string, string>> }>
>;

const deadLetterDays = 90;
const createTimeoutMs = 30_000;

/**
 * Creates missing topics and their dead-letter topics, and returns the names of the created ones.
 * Existing topics stay unchanged, because their partition counts must never change and their
 * settings belong to the operator. Runs at deployment; services never create topics.
 */
export const ensureTopics = async (
  options: KafkaConnection & { replicationFactor: number; topics?: TopicSettings },
): Promise<string[]> => {
  const { replicationFactor } = options;
  const admin = createKafkaClient(options).admin();
  await admin.connect();
  try {
    const existingTopics = new Set(await admin.listTopics());
    const missingTopics = addDeadLetterTopics(options.topics ?? topicSettings).filter(
      ({ topic }) => !existingTopics.has(topic),
    );
    if (missingTopics.length === 0) return [];
    await admin.createTopics({
      timeout: createTimeoutMs,
      // kafkajs' own wait fails if the broker does not know the topic yet.
      waitForLeaders: false,
      topics: missingTopics.map(({ topic, partitions, config }) => ({
        topic,
        numPartitions: partitions,
        replicationFactor,
        configEntries: Object.entries({
          ...config,
          ...createDurabilityConfig(replicationFactor),
        }).map(([name, value]) => ({ name, value })),
      })),
    });
    const names = missingTopics.map(({ topic }) => topic);
    await waitForPartitionLeaders(admin, names);
    return names;
  } finally {
    await admin.disconnect();
  }
};

const leaderPollMs = 100;

/**
 * Waits until every partition has a leader, because brokers learn of a new topic with a short
 * delay.
 */
const waitForPartitionLeaders = async (admin: Admin, topics: string[]): Promise<void> => {
  const deadlineMs = performance.now() + createTimeoutMs;
  for (;;) {
    try {
      const { topics: topicMetadata } = await admin.fetchTopicMetadata({ topics });
      const partitions = topicMetadata.flatMap((topic) => topic.partitions);
      if (partitions.every(({ leader }) => leader >= 0)) return;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
    }
    if (performance.now() > deadlineMs) throw new Error("new topics have no leaders yet");
    await setTimeout(leaderPollMs);
  }
};

const addDeadLetterTopics = (topics: TopicSettings) =>
  Object.entries(topics).flatMap(([topic, { partitions, config }]) => [
    { topic, partitions, config },
    { topic: getDeadLetterTopic(topic), partitions: 1, config: deadLetterConfig },
  ]);

const deadLetterConfig = {
  "cleanup.policy": "delete",
  "retention.ms": String(deadLetterDays * 24 * 60 * 60 * 1000),
};

/** With three or more replicas, `acks=all` then guarantees that at least two have the record. */
const createDurabilityConfig = (replicationFactor: number): Record<string, string> =>
  replicationFactor >= 3 ? { "min.insync.replicas": "2" } : {};
