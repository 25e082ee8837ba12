import * as z from "zod";
import { ensureTopics, grantKafkaAccess, prefixTopics, prefixUsage } from "@payment-links/bus";
import { topicSettings, topicUsage } from "@payment-links/contracts";
import { type Migration, migrate } from "@payment-links/postgres";
import { ConfigError, type Environment, createLog, parseConfig } from "@payment-links/runtime";
import { LogLevel, PostgresUrl, kafkaConfig } from "./config.ts";
import { createKafkaConnection } from "./kafka-connection.ts";

const prepareConfig = z
  .object({
    /** The URL of a role that can create roles and schemas. */
    MIGRATION_DATABASE_URL: PostgresUrl,
    /** The service's own role and password. The role is created if it does not exist. */
    DATABASE_URL: PostgresUrl,
    /** The service's own Kafka user, if it needs ACLs. */
    KAFKA_GRANT_USERNAME: z.string().optional(),
    LOG_LEVEL: LogLevel,
    KAFKA_REPLICATION_FACTOR: z.coerce.number().int().min(1).max(9).default(1),
  })
  .and(kafkaConfig);

/**
 * Prepares what one service needs before it starts: its role, its migrated schema, the topics and,
 * if KAFKA_GRANT_USERNAME is set, its Kafka ACLs. It runs once per deployment and can safely run
 * again. After an error, the process exits with a clear message and code 1. After an invalid
 * configuration, the code is 2.
 */
export const runPrepare = async (
  name: keyof typeof topicUsage,
  { schema, folders }: Pick<Migration, "schema" | "folders">,
  environment: Environment,
): Promise<void> => {
  const log = createLog({ service: name, level: environment["LOG_LEVEL"] || "info" });
  try {
    const config = parseConfig(prepareConfig, environment);
    const serviceDatabaseUrl = new URL(config.DATABASE_URL);
    const applied = await migrate({
      adminUrl: config.MIGRATION_DATABASE_URL,
      schema,
      folders,
      role: {
        name: decodeURIComponent(serviceDatabaseUrl.username),
        password: decodeURIComponent(serviceDatabaseUrl.password),
      },
    });
    const connection = createKafkaConnection(config, name, log);
    const topics = await ensureTopics({
      ...connection,
      replicationFactor: config.KAFKA_REPLICATION_FACTOR,
      topics: prefixTopics(topicSettings, config.KAFKA_TOPIC_PREFIX),
    });
    const { KAFKA_GRANT_USERNAME: user, KAFKA_TOPIC_PREFIX: prefix } = config;
    if (user !== undefined) {
      const usage = prefixUsage({ group: name, ...topicUsage[name] }, prefix);
      await grantKafkaAccess({ ...connection, principal: `User:${user}`, usage });
    }
    log.info({ schema, applied, topics, isGranted: user !== undefined }, "prepared");
  } catch (error) {
    const isExpectedError = error instanceof ConfigError;
    if (isExpectedError) process.stderr.write(`${error.message}\n`);
    else log.fatal({ err: error }, "service could not be prepared");
    process.exit(isExpectedError ? 2 : 1);
  }
};
