import * as z from "zod";
import { ensureTopics, prefixTopics } from "@payment-links/bus";
import { topicSettings } from "@payment-links/contracts";
import { type Migration, migrate } from "@payment-links/postgres";
import { ConfigError, type Environment, openLog, readConfig } from "@payment-links/runtime";
import { kafkaConfig } from "./config.ts";
import { kafkaConnection } from "./kafka-connection.ts";

const prepareConfig = z
  .object({
    /** A role that may create roles and schemas. */
    MIGRATION_DATABASE_URL: z.url(),
    /** The service's own role and password: made if missing. */
    DATABASE_URL: z.url(),
    KAFKA_REPLICATION_FACTOR: z.coerce.number().int().min(1).max(9).default(1),
  })
  .and(kafkaConfig);

/**
 * Prepares what one service needs before it starts: its role, its schema brought up to date, and
 * the topics. It runs once per deployment; more often does no harm. A fault ends the process with a
 * clear message.
 */
export const runPrepare = async (
  name: string,
  { schema, folders }: Pick<Migration, "schema" | "folders">,
  environment: Environment,
): Promise<void> => {
  const log = openLog({ service: name, level: environment["LOG_LEVEL"] || "info" });
  try {
    const config = readConfig(prepareConfig, environment);
    const own = new URL(config.DATABASE_URL);
    const applied = await migrate({
      adminUrl: config.MIGRATION_DATABASE_URL,
      schema,
      folders,
      role: {
        name: decodeURIComponent(own.username),
        password: decodeURIComponent(own.password),
      },
    });
    const topics = await ensureTopics({
      ...kafkaConnection(config, name, log),
      replicationFactor: config.KAFKA_REPLICATION_FACTOR,
      topics: prefixTopics(topicSettings, config.KAFKA_TOPIC_PREFIX),
    });
    log.info({ schema, applied, topics }, "prepared");
  } catch (error) {
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
    else log.fatal({ err: error }, "the service could not be prepared");
    process.exit(1);
  }
};
