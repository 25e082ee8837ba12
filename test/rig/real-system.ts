import { randomBytes } from "node:crypto";
import { authKeysMigration } from "@payment-links/auth-keys";
import { ensureTopics, grantKafkaUse, prefixTopics, prefixUse } from "@payment-links/bus";
import { testBrokers, testSaslConnection } from "@payment-links/bus/testing";
import { topicSettings, topicUse } from "@payment-links/contracts";
import { type ServiceName, serviceFor } from "@payment-links/deploy/ingress";
import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { claimRedisDatabase } from "@payment-links/rate-limit/testing/claim-redis-database";
import { openLog } from "@payment-links/runtime";
import { settlementListenerMigration } from "@payment-links/settlement-listener";
import { webhookDispatcherMigration } from "@payment-links/webhook-dispatcher";
import { type Child, isReady, startChild, waitReady } from "./child.ts";
import { findFreePorts } from "./free-port.ts";
import { openBalancer } from "./round-robin.ts";
import type { System } from "./system.ts";
import { waitUntil } from "@payment-links/runtime/testing";

/** One process of a service, which can be killed and started again where it was. */
type Replica = {
  service: ServiceName;
  port: number;
  internalPort: number;
  pid(): number;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Ends it in order, as a rollout does. */
  stop(): Promise<void>;
};

type Env = Record<string, string>;

export type RealSystem = System & {
  replicas: readonly Replica[];
  /**
   * Rolls a service out with other variables, as a Deployment does: new processes stand beside the
   * old ones before these are told to end. Resolves once the old ones are gone.
   */
  roll(service: ServiceName, change: Env): Promise<void>;
  /** The variables with which a service runs now. */
  envOf(service: ServiceName): Readonly<Env>;
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

type Hosted = Replica & { env: Env; output: () => string };

type Options = {
  replicasPerService: number;
  env: Env;
  /** More variables, of one service alone. */
  ownEnv?: Partial<Record<ServiceName, Env>>;
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
  const replicas: Hosted[] = [];
  /** What those that were rolled out of the way have written. */
  const former: Hosted[] = [];
  const of = (service: ServiceName) => replicas.filter((replica) => replica.service === service);
  const portsOf = (service: ServiceName) => of(service).map(({ port }) => port);
  const openInternal = (service: ServiceName) =>
    openBalancer(() => of(service).map(({ internalPort }) => internalPort));
  const authKeys = await openInternal("auth-keys");
  const settlementListener = await openInternal("settlement-listener");
  const balancer = await openBalancer((path) => portsOf(serviceFor(path)));
  const baseUrl = `http://127.0.0.1:${balancer.port}`;
  const redisUrl = await claimRedisDatabase();
  const firstEnvOf = (service: ServiceName): Env => ({
    DATABASE_URL: database.urlOf(schemas[service]),
    ...kafkaEnvOf(service),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    REDIS_URL: redisUrl,
    AUTH_KEYS_INTERNAL_URL: `http://127.0.0.1:${authKeys.port}`,
    SETTLEMENT_LISTENER_INTERNAL_URL: `http://127.0.0.1:${settlementListener.port}`,
    BASE_URL: baseUrl,
    LOG_LEVEL: "warn",
    ...options.env,
    ...options.ownEnv?.[service],
  });

  const names = started.flatMap((name) =>
    Array<ServiceName>(options.replicasPerService).fill(name),
  );
  replicas.push(
    ...(await hostAll(names.map((service) => ({ service, env: firstEnvOf(service) })))),
  );
  const close = async (): Promise<void> => {
    await Promise.all([...former, ...replicas].map((replica) => replica.stop()));
    await Promise.all([balancer.close(), authKeys.close(), settlementListener.close()]);
    await database.drop();
  };
  // Where one does not start, those that did are not left behind.
  const starts = await Promise.allSettled(replicas.map((replica) => replica.start()));
  const failed = starts.find((start) => start.status === "rejected");
  if (failed !== undefined) {
    await close();
    throw failed.reason;
  }
  return {
    baseUrl,
    internalUrl: `http://127.0.0.1:${authKeys.port}`,
    adminUrl: database.adminUrl,
    redisUrl,
    topicPrefix,
    replicas,
    roll: async (service, change) => {
      const old = of(service);
      const fresh = await hostAll(old.map(({ env }) => ({ service, env: { ...env, ...change } })));
      await Promise.all(fresh.map((replica) => replica.start()));
      replicas.push(...fresh);
      former.push(...old);
      await Promise.all(old.map((replica) => retire(replica, replicas)));
    },
    envOf: (service) => of(service)[0]?.env ?? {},
    output: () => [...former, ...replicas].map((replica) => replica.output()).join("\n"),
    close,
  };
};

/** Tells a process to end, and sends it nothing more once it says that it is not ready. */
const retire = async (replica: Hosted, serving: Hosted[]): Promise<void> => {
  const stopped = replica.stop();
  await waitUntil("it drains", async () => !(await isReady(replica.internalPort)));
  serving.splice(serving.indexOf(replica), 1);
  await stopped;
};

/** Processes that are not started yet, each on two free ports. */
const hostAll = async (
  wanted: readonly { service: ServiceName; env: Env }[],
): Promise<Hosted[]> => {
  const ports = await findFreePorts(wanted.length * 2);
  return wanted.map(({ service, env }, index) => {
    const [port = 0, internalPort = 0] = ports.slice(index * 2);
    const own = { ...env, PORT: String(port), INTERNAL_PORT: String(internalPort) };
    return { service, port, internalPort, env, ...openReplica(service, internalPort, own) };
  });
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

/** How a service reaches the brokers, by a user of its own where they ask who calls. */
export const kafkaEnvOf = (user: string): Env => {
  const asUser = testSaslConnection(user);
  if (asUser === undefined) return { KAFKA_BROKERS: testBrokers().join(",") };
  const { brokers, sasl } = asUser;
  return {
    KAFKA_BROKERS: brokers.join(","),
    KAFKA_SASL_MECHANISM: sasl.mechanism,
    KAFKA_SASL_USERNAME: sasl.username,
    KAFKA_SASL_PASSWORD: sasl.password,
  };
};

const openReplica = (service: ServiceName, internalPort: number, env: Env) => {
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
