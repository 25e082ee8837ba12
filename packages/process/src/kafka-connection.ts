import type { KafkaConnection } from "@payment-links/bus";
import type { Log } from "@payment-links/runtime";
import type { KafkaConfig } from "./config.ts";

/** Returns the connection settings of the brokers from the parsed configuration. */
export const createKafkaConnection = (
  config: KafkaConfig,
  clientId: string,
  log: Log,
): KafkaConnection => ({
  brokers: config.KAFKA_BROKERS,
  clientId,
  log,
  ssl: config.KAFKA_SSL,
  ...(config.KAFKA_SASL_MECHANISM === undefined
    ? {}
    : {
        sasl: {
          mechanism: config.KAFKA_SASL_MECHANISM,
          username: config.KAFKA_SASL_USERNAME,
          password: config.KAFKA_SASL_PASSWORD,
        },
      }),
});
