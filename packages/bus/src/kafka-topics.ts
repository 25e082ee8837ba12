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
 * Makes the topics that are missing, with their dead-letter topics, and answers their names. Topics
 * that exist are left as they are: their partitions may never change, and their settings are the
 * operator's. It runs at deployment; services never make a topic.
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
      // kafkajs' own wait gives up if the broker has not heard of the topic yet.
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
 * Waits until every partition has a leader: a broker hears of a new topic a moment after it is
 * made.
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

/** `acks=all` promises no more than this: two of three replicas have the record. */
const createDurabilityConfig = (replicationFactor: number): Record<string, string> =>
  replicationFactor >= 3 ? { "min.insync.replicas": "2" } : {};
