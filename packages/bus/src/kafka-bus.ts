import type { ConnectionOptions } from "node:tls";
import type { SASLOptions } from "kafkajs";
import type { Log, Metrics } from "@payment-links/runtime";
import type { Bus, Subscription } from "./bus.ts";
import { createKafkaConsumer } from "./kafka-consumer.ts";
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
  /** Called once where no waiting helps, such as a refused password: the process should end. */
  onFatal: (error: Error) => void;
};

const pollMs = 50;

/**
 * The bus over Kafka. It connects when it is first used, waits for brokers that are away, and never
 * makes a topic: `ensureTopics` does, at deployment.
 */
export const createKafkaBus = (options: KafkaBusOptions): Bus => {
  const producer = createKafkaProducer(options);
  const subscriptions = new Set<Subscription>();
  return {
    sendTimeoutMs: producer.sendTimeoutMs,
    pollMs,
    publish: (records) => producer.send(records),
    subscribe: async (subscription) => {
      const consumer = createKafkaConsumer({ ...options, ...subscription });
      subscriptions.add(consumer);
      return consumer;
    },
    close: async () => {
      await Promise.all([...subscriptions].map((subscription) => subscription.stop()));
      producer.close();
    },
  };
};
