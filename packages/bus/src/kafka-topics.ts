import { setTimeout } from "node:timers/promises";
import type { Admin } from "kafkajs";
import { topicSettings } from "@payment-links/contracts";
import { deadLetterTopic } from "./dead-letters.ts";
import { type KafkaConnection, openKafka } from "./kafka-client.ts";

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
  const admin = openKafka(options).admin();
  await admin.connect();
  try {
    const known = new Set(await admin.listTopics());
    const missing = withDeadLetters(options.topics ?? topicSettings).filter(
      ({ topic }) => !known.has(topic),
    );
    if (missing.length === 0) return [];
    await admin.createTopics({
      timeout: createTimeoutMs,
      // kafkajs' own wait gives up if the broker has not heard of the topic yet.
      waitForLeaders: false,
      topics: missing.map(({ topic, partitions, config }) => ({
        topic,
        numPartitions: partitions,
        replicationFactor,
        configEntries: Object.entries({ ...config, ...durability(replicationFactor) }).map(
          ([name, value]) => ({ name, value }),
        ),
      })),
    });
    const names = missing.map(({ topic }) => topic);
    await waitUntilServed(admin, names);
    return names;
  } finally {
    await admin.disconnect();
  }
};

const servedPollMs = 100;

/**
 * Waits until every partition has a leader: a broker hears of a new topic a moment after it is
 * made.
 */
const waitUntilServed = async (admin: Admin, topics: string[]): Promise<void> => {
  const endsAtMs = performance.now() + createTimeoutMs;
  for (;;) {
    try {
      const { topics: known } = await admin.fetchTopicMetadata({ topics });
      const partitions = known.flatMap((topic) => topic.partitions);
      if (partitions.every(({ leader }) => leader >= 0)) return;
    } catch (error) {
      if (performance.now() > endsAtMs) throw error;
    }
    if (performance.now() > endsAtMs) throw new Error("new topics have no leaders yet");
    await setTimeout(servedPollMs);
  }
};

const withDeadLetters = (topics: TopicSettings) =>
  Object.entries(topics).flatMap(([topic, { partitions, config }]) => [
    { topic, partitions, config },
    { topic: deadLetterTopic(topic), partitions: 1, config: deadLetterConfig },
  ]);

const deadLetterConfig = {
  "cleanup.policy": "delete",
  "retention.ms": String(deadLetterDays * 24 * 60 * 60 * 1000),
};

/** `acks=all` promises no more than this: two of three replicas have the record. */
const durability = (replicationFactor: number): Record<string, string> =>
  replicationFactor >= 3 ? { "min.insync.replicas": "2" } : {};
