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

/** The bus over Kafka. It can also distinguish a hanging consumer from unavailable brokers. */
export type KafkaBus = Bus & {
  /**
   * Returns the groups whose member in this process has been silent for so long, although the
   * broker responds, that the process should be restarted. Empty while the brokers are unavailable.
   */
  stalledGroups(): readonly string[];
};

/** A fallback for events of a process that exits before it can notify the leading relay. */
const pollMs = 1_000;

/**
 * Creates the bus over Kafka. It connects on first use and waits for unavailable brokers. It never
 * creates topics: `ensureTopics` does that at deployment.
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
