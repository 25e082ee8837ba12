import type * as z from "zod";
import { type Bus, type KafkaBus, createKafkaBus, withTopicPrefix } from "@payment-links/bus";
import { openCatalogue } from "@payment-links/contracts";
import { PortTakenError, type Service, drainMsMax, openInternalPort } from "@payment-links/http";
import { createHttpAsk } from "@payment-links/identity";
import { type Migration, type Pool, openMigratedPool } from "@payment-links/postgres";
import { createRedisLimiter } from "@payment-links/rate-limit";
import {
  ConfigError,
  type Environment,
  type Log,
  type StopList,
  addProcessMetrics,
  crashOnUncaught,
  createStopList,
  openLog,
  openMetrics,
  openTracing,
  readConfig,
  stopOnSignal,
  systemClock,
  waitForEachAddress,
} from "@payment-links/runtime";
import { createHttpAskSolana, createHttpAskUsedAddresses } from "./ask-solana.ts";
import { type ProcessConfig, processConfig, warnOfInsecureCookie } from "./config.ts";
import type { Ground } from "./ground.ts";
import { kafkaConnection } from "./kafka-connection.ts";

type ServiceProcess<Config> = {
  name: string;
  /** The service's own variables. */
  config: z.ZodType<Config>;
  /** What its schema must have before it can start. */
  migration: Pick<Migration, "schema" | "folders">;
  create: (ground: Ground, config: Config) => Service;
};

/**
 * Runs one service in this process over Kafka, Postgres and Redis, until it is told to stop. It
 * waits, not ready, while Postgres is away or its schema is older than this code. Nothing else that
 * is away holds it up. An unusable configuration ends the process with a clear message and code 2.
 */
export const runProcess = async <Config>(
  service: ServiceProcess<Config>,
  environment: Environment,
): Promise<void> => {
  const log = openLog({ service: service.name, level: environment["LOG_LEVEL"] || "info" });
  crashOnUncaught(log);
  waitForEachAddress();
  try {
    await start(service, environment, log);
  } catch (error) {
    const isPlain = error instanceof ConfigError || error instanceof PortTakenError;
    if (isPlain) process.stderr.write(`${error.message}\n`);
    else log.fatal({ err: error }, "the service could not start");
    process.exit(isPlain ? 2 : 1);
  }
};

const start = async <Config>(
  { name, config: ownConfig, create, migration }: ServiceProcess<Config>,
  environment: Environment,
  log: Log,
): Promise<void> => {
  const config = readConfig(processConfig, environment);
  const own = readConfig(ownConfig, environment);
  const fixed = settings(config);
  const stopList = createStopList();
  stopOnSignal(stopList, log, drainMsMax(config));
  const isTraced = config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
  stopList.add("tracing", await openTracing(name, isTraced));
  warnOfInsecureCookie(config, log);
  const internal = await openInternalPort({
    config,
    names: [name],
    trustedProxies: config.TRUSTED_PROXIES,
    stopList,
    clock: systemClock,
    log,
  });
  const pool = await openMigratedPool({
    url: config.DATABASE_URL,
    applicationName: name,
    connectionsMax: config.DATABASE_CONNECTIONS_MAX,
    migration,
    clock: systemClock,
    waiting: internal.waitFor,
    log,
  });
  stopList.add("database", () => pool.end());
  const { ground, kafka } = openGround(name, config, { pool, stopList, log });
  const service = create({ ...ground, ...fixed }, own);
  stopList.add(name, () => service.stop());
  await service.start();
  const { port } = await internal.open({
    app: service.app,
    services: [service],
    whyStalled: () => whyStalled(kafka),
  });
  log.info({ port, internalPort: internal.port }, "ready");
};

const whyStalled = (kafka: KafkaBus): string | undefined => {
  const groups = kafka.stalledGroups();
  if (groups.length === 0) return undefined;
  return `the consumer of ${groups.join(", ")} is silent although Kafka answers`;
};

type Opened = { pool: Pool; stopList: StopList; log: Log };

/**
 * Opens what needs no server at once. A server that is away shows when it is used, and is waited
 * for then.
 */
const openGround = (name: string, config: ProcessConfig, { pool, stopList, log }: Opened) => {
  const clock = systemClock;
  const metrics = openMetrics(name);
  addProcessMetrics(metrics);
  const kafka = createKafkaBus({ ...kafkaConnection(config, name, log), metrics });
  const bus: Bus = withTopicPrefix(kafka, config.KAFKA_TOPIC_PREFIX);
  stopList.add("bus", () => bus.close());
  const { REDIS_URL: url, RATE_LIMIT_REPLICAS: replicas } = config;
  const secret = config.INTERNAL_TOKEN?.[0] ?? "";
  const limiter = createRedisLimiter({ url, secret, replicas, clock, log, metrics });
  stopList.add("limiter", () => limiter.close());
  const token = config.INTERNAL_TOKEN?.[0];
  const ask = createHttpAsk({ url: config.AUTH_KEYS_INTERNAL_URL, token });
  const listener = { url: config.SETTLEMENT_LISTENER_INTERNAL_URL, token };
  const askSolana = createHttpAskSolana(listener);
  const askUsedAddresses = createHttpAskUsedAddresses(listener);
  const ground = { pool, bus, limiter, ask, askSolana, askUsedAddresses, clock, log, metrics };
  return { ground, kafka };
};

const settings = (config: ProcessConfig) => {
  const baseUrl = config.BASE_URL ?? `http://127.0.0.1:${config.PORT}`;
  return {
    databaseUrl: config.DATABASE_URL,
    limits: { perKey: config.RATE_LIMIT_PER_KEY, perAddress: config.RATE_LIMIT_PER_IP },
    trustedProxies: config.TRUSTED_PROXIES,
    catalogue: openCatalogue(config.CATALOGUE_FILE),
    baseUrl,
    checkoutUrl: config.CHECKOUT_URL ?? baseUrl,
  };
};
