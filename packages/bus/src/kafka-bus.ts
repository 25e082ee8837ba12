import type { Bus } from "./bus.ts";
import type { KafkaConnection } from "./kafka-client.ts";
import {
  type KafkaConsumerOptions,
  type KafkaSubscription,
  createKafkaConsumer,
} from "./kafka-consumer.ts";
import { createKafkaProducer } from "./kafka-producer.ts";

export type KafkaBusOptions = KafkaConnection &
  Pick<KafkaConsumerOptions, "metrics" | "positionCheckIntervalMs" | "silenceMsMax">;

/** The bus over Kafka, which can tell a consumer that hangs from brokers that are away. */
export type KafkaBus = Bus & {
  /**
   * The groups whose member here has been silent for so long, although the broker answers, that a
   * new process should take its place. Empty while the brokers are away.
   */
  stalledGroups(): readonly string[];
};

/** Only for what a process commits that ends before it can tell the leading relay. */
const pollMs = 1_000;

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
