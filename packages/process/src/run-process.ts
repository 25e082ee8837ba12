import type * as z from "zod";
import { type Bus, type KafkaBus, createKafkaBus, withTopicPrefix } from "@payment-links/bus";
import { loadCatalogue } from "@payment-links/contracts";
import {
  PortInUseError,
  type Service,
  getDrainMsMax,
  startInternalListener,
} from "@payment-links/http";
import { createIntrospectionClient } from "@payment-links/identity";
import { type Migration, type Pool, connectMigratedPool } from "@payment-links/postgres";
import { createRedisLimiter } from "@payment-links/rate-limit";
import {
  ConfigError,
  type Environment,
  type Log,
  type StopList,
  addProcessMetrics,
  exitOnUncaughtError,
  createStopList,
  createLog,
  createMetrics,
  startTracing,
  parseConfig,
  stopOnSignal,
  systemClock,
  setConnectAttemptTimeout,
} from "@payment-links/runtime";
import { createReceiptClient } from "./receipt-client.ts";
import { createSolanaAccountStateClient, createUsedAddressesClient } from "./settlement-client.ts";
import { type ProcessConfig, processConfig, warnAboutInsecureCookie } from "./config.ts";
import type { ServiceContext } from "./service-context.ts";
import { createKafkaConnection } from "./kafka-connection.ts";

type ServiceProcess<Config> = {
  name: string;
  /** The service's own environment variables. */
  config: z.ZodType<Config>;
  /** The migrations that must be applied before the service can start. */
  migration: Pick<Migration, "schema" | "folders">;
  create: (context: ServiceContext, config: Config) => Service;
};

/**
 * Runs one service in this process with Kafka, Postgres and Redis until the process receives a stop
 * signal. While Postgres is unavailable or the schema is older than this code, the process waits.
 * It is then alive but not ready. No other unavailable dependency delays the start. If the
 * configuration is invalid, the process exits with a clear message and code 2.
 */
export const runProcess = async <Config>(
  service: ServiceProcess<Config>,
  environment: Environment,
): Promise<void> => {
  const log = createLog({ service: service.name, level: environment["LOG_LEVEL"] || "info" });
  exitOnUncaughtError(log);
  setConnectAttemptTimeout();
  try {
    await startService(service, environment, log);
  } catch (error) {
    const isExpectedError = error instanceof ConfigError || error instanceof PortInUseError;
    if (isExpectedError) process.stderr.write(`${error.message}\n`);
    else log.fatal({ err: error }, "service could not start");
    process.exit(isExpectedError ? 2 : 1);
  }
};

const startService = async <Config>(
  { name, config: serviceConfigSchema, create, migration }: ServiceProcess<Config>,
  environment: Environment,
  log: Log,
): Promise<void> => {
  const config = parseConfig(processConfig, environment);
  const serviceConfig = parseConfig(serviceConfigSchema, environment);
  const contextSettings = createContextSettings(config);
  const stopList = createStopList();
  stopOnSignal(stopList, log, getDrainMsMax(config));
  const isTracingEnabled = config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
  stopList.add("tracing", await startTracing(name, isTracingEnabled));
  warnAboutInsecureCookie(config, log);
  const internalListener = await startInternalListener({
    config,
    serviceNames: [name],
    trustedProxies: config.TRUSTED_PROXIES,
    stopList,
    clock: systemClock,
    log,
  });
  const pool = await connectMigratedPool({
    url: config.DATABASE_URL,
    applicationName: name,
    connectionsMax: config.DATABASE_CONNECTIONS_MAX,
    migration,
    clock: systemClock,
    onWait: internalListener.setStartupWaitReason,
    log,
  });
  stopList.add("database", () => pool.end());
  const { context, kafka } = createContext(name, config, { pool, stopList, log });
  const service = create({ ...context, ...contextSettings }, serviceConfig);
  stopList.add(name, () => service.stop());
  await service.start();
  const { port } = await internalListener.startPublicListener({
    app: service.app,
    services: [service],
    getStallReason: () => getStallReason(kafka),
  });
  log.info({ port, internalPort: internalListener.port }, "ready");
};

const getStallReason = (kafka: KafkaBus): string | undefined => {
  const groups = kafka.stalledGroups();
  if (groups.length === 0) return undefined;
  return `the consumer of ${groups.join(", ")} is stalled although Kafka responds`;
};

type ContextInputs = { pool: Pool; stopList: StopList; log: Log };

/**
 * Creates the dependencies that connect only when they are used, so that an unavailable server does
 * not delay the start.
 */
const createContext = (
  name: string,
  config: ProcessConfig,
  { pool, stopList, log }: ContextInputs,
) => {
  const clock = systemClock;
  const metrics = createMetrics(name);
  addProcessMetrics(metrics);
  const kafka = createKafkaBus({ ...createKafkaConnection(config, name, log), metrics });
  const bus: Bus = withTopicPrefix(kafka, config.KAFKA_TOPIC_PREFIX);
  stopList.add("bus", () => bus.close());
  const { REDIS_URL: url, RATE_LIMIT_REPLICAS: replicas } = config;
  const secret = config.INTERNAL_TOKEN?.[0] ?? "";
  const limiter = createRedisLimiter({ url, secret, replicas, clock, log, metrics });
  stopList.add("limiter", () => limiter.close());
  const token = config.INTERNAL_TOKEN?.[0];
  const authKeysOptions = { url: config.AUTH_KEYS_INTERNAL_URL, token };
  const requestIntrospection = createIntrospectionClient(authKeysOptions);
  const sendReceipt = createReceiptClient(authKeysOptions);
  const settlementOptions = { url: config.SETTLEMENT_LISTENER_INTERNAL_URL, token };
  const fetchSolanaAccountState = createSolanaAccountStateClient(settlementOptions);
  const fetchUsedAddresses = createUsedAddressesClient(settlementOptions);
  const context = {
    pool,
    bus,
    limiter,
    requestIntrospection,
    fetchSolanaAccountState,
    fetchUsedAddresses,
    sendReceipt,
    clock,
    log,
    metrics,
  };
  return { context, kafka };
};

const createContextSettings = (config: ProcessConfig) => {
  const baseUrl = config.BASE_URL ?? `http://127.0.0.1:${config.PORT}`;
  return {
    databaseUrl: config.DATABASE_URL,
    limits: { perKey: config.RATE_LIMIT_PER_KEY, perAddress: config.RATE_LIMIT_PER_IP },
    trustedProxies: config.TRUSTED_PROXIES,
    catalogue: loadCatalogue(config.CATALOGUE_FILE),
    baseUrl,
    checkoutUrl: config.CHECKOUT_URL ?? baseUrl,
  };
};
