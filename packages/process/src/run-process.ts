import type * as z from "zod";
import { createKafkaBus, withTopicPrefix } from "@payment-links/bus";
import { openCatalogue } from "@payment-links/contracts";
import { PortTakenError, type Service, serve } from "@payment-links/http";
import { createHttpAsk } from "@payment-links/identity";
import { openPool } from "@payment-links/postgres";
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
} from "@payment-links/runtime";
import { type ProcessConfig, processConfig } from "./config.ts";
import type { Ground } from "./ground.ts";
import { kafkaConnection } from "./kafka-connection.ts";

type ServiceProcess<Config> = {
  name: string;
  /** The service's own variables. */
  config: z.ZodType<Config>;
  create: (ground: Ground, config: Config) => Service;
};

/**
 * Runs one service in this process over Kafka, Postgres and Redis, until it is told to stop. A
 * configuration that cannot be used ends the process with a clear message and code 2.
 */
export const runProcess = async <Config>(
  service: ServiceProcess<Config>,
  environment: Environment,
): Promise<void> => {
  const log = openLog({ service: service.name, level: environment["LOG_LEVEL"] || "info" });
  crashOnUncaught(log);
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
  { name, config: ownConfig, create }: ServiceProcess<Config>,
  environment: Environment,
  log: Log,
): Promise<void> => {
  const config = readConfig(processConfig, environment);
  const own = readConfig(ownConfig, environment);
  const stopList = createStopList();
  stopOnSignal(stopList, log);
  const isTraced = config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
  stopList.add("tracing", await openTracing(name, isTraced));
  if (config.ALLOW_INSECURE_COOKIE) {
    log.warn("ALLOW_INSECURE_COOKIE is set: sessions can be stolen");
  }
  const service = create(await openGround(name, config, stopList, log), own);
  stopList.add(name, () => service.stop());
  await service.start();
  const { port, internalPort } = await serve({
    config,
    app: service.app,
    services: [service],
    stopList,
    log,
  });
  log.info({ port, internalPort }, "ready");
};

const openGround = async (
  name: string,
  config: ProcessConfig,
  stopList: StopList,
  log: Log,
): Promise<Ground> => {
  const clock = systemClock;
  const metrics = openMetrics(name);
  addProcessMetrics(metrics);
  const pool = await openPool({
    url: config.DATABASE_URL,
    applicationName: name,
    connectionsMax: config.DATABASE_CONNECTIONS_MAX,
    log,
  });
  stopList.add("database", () => pool.end());
  const kafka = createKafkaBus({
    ...kafkaConnection(config, name, log),
    metrics,
    onFatal: (error) => {
      log.fatal({ err: error }, "Kafka will not come back by waiting; the process ends");
      process.exit(1);
    },
  });
  const bus = withTopicPrefix(kafka, config.KAFKA_TOPIC_PREFIX);
  stopList.add("bus", () => bus.close());
  const { REDIS_URL: url, RATE_LIMIT_REPLICAS: replicas } = config;
  const limiter = createRedisLimiter({ url, replicas, clock, log, metrics });
  stopList.add("limiter", () => limiter.close());
  const ask = createHttpAsk({
    url: config.AUTH_KEYS_INTERNAL_URL,
    ...(config.INTERNAL_TOKEN === undefined ? {} : { token: config.INTERNAL_TOKEN }),
  });
  return { pool, bus, limiter, ask, clock, log, metrics, ...settings(config) };
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
