import { randomBytes } from "node:crypto";
import { authKeysMigration } from "@payment-links/auth-keys";
import { ensureTopics, grantKafkaUse, prefixTopics, prefixUse } from "@payment-links/bus";
import { testBrokers, testSaslConnection } from "@payment-links/bus/testing";
import { topicSettings, topicUse } from "@payment-links/contracts";
import { type ServiceName, serviceFor } from "@payment-links/deploy/ingress";
import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { testRedisUrl } from "@payment-links/rate-limit/testing/test-redis-url";
import { openLog } from "@payment-links/runtime";
import { settlementListenerMigration } from "@payment-links/settlement-listener";
import { webhookDispatcherMigration } from "@payment-links/webhook-dispatcher";
import { type Child, startChild, waitReady } from "./child.ts";
import { findFreePorts } from "./free-port.ts";
import { openBalancer } from "./round-robin.ts";
import type { System } from "./system.ts";

/** One process of a service, which can be killed and started again where it was. */
type Replica = {
  service: ServiceName;
  internalPort: number;
  pid(): number;
  start(): Promise<void>;
  kill(): Promise<void>;
};

export type RealSystem = System & {
  replicas: readonly Replica[];
  adminUrl: string;
  redisUrl: string;
  topicPrefix: string;
};

const schemas = {
  "auth-keys": "auth_keys",
  "links-api": "links_api",
  "settlement-listener": "settlement_listener",
  "webhook-dispatcher": "webhook_dispatcher",
} as const satisfies Record<ServiceName, string>;

const services = Object.keys(schemas) as ServiceName[];

type Ended = { port: number; output: () => string; stop: () => Promise<void> };

type Options = {
  replicasPerService: number;
  env: Record<string, string>;
  redisDatabase: number;
  /** Which services are started; all four unless given. */
  only?: readonly ServiceName[];
};

/**
 * Starts the four services as separate processes over the real Kafka, Redis and Postgres of the test
 * run, in a database and under a topic prefix of their own, behind a balancer that is their ingress.
 */
export const openRealSystem = async (options: Options): Promise<RealSystem> => {
  const database = await createTestDatabase([
    authKeysMigration,
    linksApiMigration,
    settlementListenerMigration,
    webhookDispatcherMigration,
  ]);
  const topicPrefix = `t${randomBytes(5).toString("hex")}.`;
  await prepareKafka(topicPrefix);
  const started = options.only ?? services;
  const count = options.replicasPerService * started.length;
  const ports = await findFreePorts(count * 2);
  const replicas: (Replica & Ended)[] = [];
  let authKeysPorts: number[] = [];
  const askPort = await openBalancer(() => authKeysPorts);
  const balancer = await openBalancer((path) =>
    replicas.filter(({ service }) => service === serviceFor(path)).map(({ port }) => port),
  );
  const baseUrl = `http://127.0.0.1:${balancer.port}`;
  const redisUrl = `${testRedisUrl()}/${options.redisDatabase}`;

  for (const [index, service] of started
    .flatMap((name) => Array.from({ length: options.replicasPerService }, () => name))
    .entries()) {
    const port = ports[index * 2] ?? 0;
    const internalPort = ports[index * 2 + 1] ?? 0;
    const env = {
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      DATABASE_URL: database.urlOf(schemas[service]),
      ...kafkaEnvOf(service),
      KAFKA_TOPIC_PREFIX: topicPrefix,
      REDIS_URL: redisUrl,
      AUTH_KEYS_INTERNAL_URL: `http://127.0.0.1:${askPort.port}`,
      BASE_URL: baseUrl,
      LOG_LEVEL: "warn",
      ...options.env,
    };
    replicas.push({ service, port, internalPort, ...openReplica(service, internalPort, env) });
  }
  authKeysPorts = replicas
    .filter(({ service }) => service === "auth-keys")
    .map(({ internalPort }) => internalPort);
  await Promise.all(replicas.map((replica) => replica.start()));
  return {
    baseUrl,
    internalUrl: `http://127.0.0.1:${authKeysPorts[0] ?? 0}`,
    adminUrl: database.adminUrl,
    redisUrl,
    topicPrefix,
    replicas,
    output: () => replicas.map((replica) => replica.output()).join("\n"),
    close: async () => {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await Promise.all([balancer.close(), askPort.close()]);
      await database.drop();
    },
  };
};

/** The topics, and what each service does there: it may do no more where brokers ask who calls. */
const prepareKafka = async (topicPrefix: string): Promise<void> => {
  const connection = {
    brokers: testBrokers(),
    clientId: "tests",
    log: openLog({ service: "tests", level: "warn" }),
  };
  const topics = prefixTopics(topicSettings, topicPrefix);
  await ensureTopics({ ...connection, replicationFactor: 1, topics });
  if (testSaslConnection(services[0] ?? "") === undefined) return;
  for (const service of services) {
    const use = prefixUse({ group: service, ...topicUse[service] }, topicPrefix);
    await grantKafkaUse({ ...connection, principal: `User:${service}`, use });
  }
};

const kafkaEnvOf = (service: ServiceName): Record<string, string> => {
  const asUser = testSaslConnection(service);
  if (asUser === undefined) return { KAFKA_BROKERS: testBrokers().join(",") };
  const { brokers, sasl } = asUser;
  return {
    KAFKA_BROKERS: brokers.join(","),
    KAFKA_SASL_MECHANISM: sasl.mechanism,
    KAFKA_SASL_USERNAME: sasl.username,
    KAFKA_SASL_PASSWORD: sasl.password,
  };
};

const openReplica = (service: ServiceName, internalPort: number, env: Record<string, string>) => {
  let child: Child | undefined;
  let earlier = "";
  return {
    output: () => earlier + (child?.output() ?? ""),
    pid: () => child?.pid ?? -1,
    start: async () => {
      earlier += child?.output() ?? "";
      child = startChild(`services/${service}/src/main.ts`, env);
      await waitReady(child, internalPort);
    },
    kill: async () => {
      await child?.end("SIGKILL");
    },
    stop: async () => {
      await child?.end("SIGTERM");
    },
  };
};
