import type { ConnectionOptions } from "node:tls";
import type { SASLOptions } from "kafkajs";
import type { Log, Metrics } from "@payment-links/runtime";
import type { Bus } from "./bus.ts";
import { type KafkaSubscription, createKafkaConsumer } from "./kafka-consumer.ts";
import { createKafkaProducer } from "./kafka-producer.ts";

/** How to reach the brokers. */
export type KafkaConnection = {
  brokers: readonly string[];
  clientId: string;
  log: Log;
  /** TLS; `true` trusts the system's authorities. */
  ssl?: boolean | ConnectionOptions;
  sasl?: SASLOptions;
};

export type KafkaBusOptions = KafkaConnection & {
  metrics: Metrics;
  /** How long a consumer may give no sign of life before it is replaced; 60 s by default. */
  silenceMsMax?: number;
};

/** The bus over Kafka, which can tell a consumer that hangs from brokers that are away. */
export type KafkaBus = Bus & {
  /**
   * The groups whose member here gives no sign of life although the broker does, for so long that a new
   * process should take its place. Empty while the brokers are away.
   */
  stalledGroups(): readonly string[];
};

const pollMs = 50;

/**
 * The bus over Kafka. It connects when it is first used, waits for brokers that are away, and never
 * makes a topic: `ensureTopics` does, at deployment.
 */
export const createKafkaBus = (options: KafkaBusOptions): KafkaBus => {
  const producer = createKafkaProducer(options);
  const subscriptions = new Set<KafkaSubscription>();
  return {
    sendTimeoutMs: producer.sendTimeoutMs,
    pollMs,
    publish: (records) => producer.send(records),
    subscribe: async (subscription) => {
      const consumer = createKafkaConsumer({ ...options, ...subscription });
      subscriptions.add(consumer);
      return consumer;
    },
    stalledGroups: () =>
      [...subscriptions].filter((member) => member.isStalled()).map((member) => member.group),
    close: async () => {
      await Promise.all([...subscriptions].map((subscription) => subscription.stop()));
      producer.close();
    },
  };
};
