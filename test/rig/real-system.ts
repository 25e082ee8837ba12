import { randomBytes } from "node:crypto";
import { authKeysMigration } from "@payment-links/auth-keys";
import { ensureTopics, grantKafkaAccess, prefixTopics, prefixUsage } from "@payment-links/bus";
import { getTestBrokers, getTestSaslConnection } from "@payment-links/bus/testing";
import { topicSettings, topicUsage } from "@payment-links/contracts";
import { type ServiceName, findService } from "@payment-links/deploy/ingress";
import { linksApiMigration } from "@payment-links/links-api";
import { createTestDatabase } from "@payment-links/postgres/testing";
import { claimRedisDatabase } from "@payment-links/rate-limit/testing/claim-redis-database";
import { createLog } from "@payment-links/runtime";
import { settlementListenerMigration } from "@payment-links/settlement-listener";
import { webhookDispatcherMigration } from "@payment-links/webhook-dispatcher";
import { type Child, isReady, startChild, waitUntilReady } from "./child.ts";
import { startBalancer } from "./round-robin.ts";
import type { System } from "./system.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";

/** A process of a service. It can be killed and restarted on the same ports. */
type Replica = {
  service: ServiceName;
  port: number;
  internalPort: number;
  pid(): number;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Stops the process gracefully, as a rollout does. */
  stop(): Promise<void>;
};

type Env = Record<string, string>;

export type RealSystem = System & {
  replicas: readonly Replica[];
  /**
   * Rolls out a service with different environment variables, like a Deployment: new processes
   * start before the old ones get SIGTERM. Resolves when the old processes are gone.
   */
  rollOut(service: ServiceName, overrides: Env): Promise<void>;
  /** Returns the current environment variables of a service. */
  getEnv(service: ServiceName): Readonly<Env>;
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

type HostedReplica = Replica & { env: Env; output: () => string };

type Options = {
  replicasPerService: number;
  env: Env;
  /** Additional environment variables for individual services. */
  envByService?: Partial<Record<ServiceName, Env>>;
  /** The services to start. The default is all four. */
  startedServices?: readonly ServiceName[];
};

/**
 * Starts the four services as separate processes with the real Kafka, Redis and Postgres of the
 * test run. The system has its own database, its own topic prefix, and a load balancer as ingress.
 */
export const startRealSystem = async (options: Options): Promise<RealSystem> => {
  const database = await createTestDatabase([
    authKeysMigration,
    linksApiMigration,
    settlementListenerMigration,
    webhookDispatcherMigration,
  ]);
  const topicPrefix = `t${randomBytes(5).toString("hex")}.`;
  await prepareKafka(topicPrefix);
  const selectedServices = options.startedServices ?? services;
  const replicas: HostedReplica[] = [];
  /** Processes that a rollout has replaced. Their output is still part of the system's output. */
  const retiredReplicas: HostedReplica[] = [];
  const getReplicas = (service: ServiceName) =>
    replicas.filter((replica) => replica.service === service);
  const getPorts = (service: ServiceName) => getReplicas(service).map(({ port }) => port);
  const startInternalBalancer = (service: ServiceName) =>
    startBalancer(() => getReplicas(service).map(({ internalPort }) => internalPort));
  const authKeys = await startInternalBalancer("auth-keys");
  const settlementListener = await startInternalBalancer("settlement-listener");
  const balancer = await startBalancer((path) => getPorts(findService(path)));
  const baseUrl = `http://127.0.0.1:${balancer.port}`;
  const redisUrl = await claimRedisDatabase();
  const buildInitialEnv = (service: ServiceName): Env => ({
    DATABASE_URL: database.getRoleUrl(schemas[service]),
    ...buildKafkaEnv(service),
    KAFKA_TOPIC_PREFIX: topicPrefix,
    REDIS_URL: redisUrl,
    AUTH_KEYS_INTERNAL_URL: `http://127.0.0.1:${authKeys.port}`,
    SETTLEMENT_LISTENER_INTERNAL_URL: `http://127.0.0.1:${settlementListener.port}`,
    BASE_URL: baseUrl,
    LOG_LEVEL: "warn",
    ...options.env,
    ...options.envByService?.[service],
  });

  const serviceNames = selectedServices.flatMap((name) =>
    Array<ServiceName>(options.replicasPerService).fill(name),
  );
  replicas.push(
    ...(await createReplicas(
      serviceNames.map((service) => ({ service, env: buildInitialEnv(service) })),
    )),
  );
  const close = async (): Promise<void> => {
    await Promise.all([...retiredReplicas, ...replicas].map((replica) => replica.stop()));
    await Promise.all([balancer.close(), authKeys.close(), settlementListener.close()]);
    await database.drop();
  };
  // If one process fails to start, the started processes are stopped.
  const startResults = await Promise.allSettled(replicas.map((replica) => replica.start()));
  const failedStart = startResults.find((start) => start.status === "rejected");
  if (failedStart !== undefined) {
    await close();
    throw failedStart.reason;
  }
  return {
    baseUrl,
    internalUrl: `http://127.0.0.1:${authKeys.port}`,
    adminUrl: database.adminUrl,
    redisUrl,
    topicPrefix,
    replicas,
    rollOut: async (service, overrides) => {
      const oldReplicas = getReplicas(service);
      const newReplicas = await createReplicas(
        oldReplicas.map(({ env }) => ({ service, env: { ...env, ...overrides } })),
      );
      await Promise.all(newReplicas.map((replica) => replica.start()));
      replicas.push(...newReplicas);
      retiredReplicas.push(...oldReplicas);
      await Promise.all(oldReplicas.map((replica) => retireReplica(replica, replicas)));
    },
    getEnv: (service) => getReplicas(service)[0]?.env ?? {},
    output: () => [...retiredReplicas, ...replicas].map((replica) => replica.output()).join("\n"),
    close,
  };
};

/**
 * Sends SIGTERM to a process. Stops routing requests to it when it reports that it is not ready.
 */
const retireReplica = async (
  replica: HostedReplica,
  activeReplicas: HostedReplica[],
): Promise<void> => {
  const stopped = replica.stop();
  await waitUntil("the replica drains", async () => !(await isReady(replica.internalPort)));
  activeReplicas.splice(activeReplicas.indexOf(replica), 1);
  await stopped;
};

/** Creates processes that are not started yet, each with two free ports. */
const createReplicas = async (
  replicaSpecs: readonly { service: ServiceName; env: Env }[],
): Promise<HostedReplica[]> => {
  const ports = await findFreePorts(replicaSpecs.length * 2);
  return replicaSpecs.map(({ service, env }, index) => {
    const [port = 0, internalPort = 0] = ports.slice(index * 2);
    const replicaEnv = { ...env, PORT: String(port), INTERNAL_PORT: String(internalPort) };
    return {
      service,
      port,
      internalPort,
      env,
      ...createReplicaProcess(service, internalPort, replicaEnv),
    };
  });
};

/**
 * Creates the topics. If the brokers require authentication, grants each service only the access
 * that it needs.
 */
const prepareKafka = async (topicPrefix: string): Promise<void> => {
  const connection = {
    brokers: getTestBrokers(),
    clientId: "tests",
    log: createLog({ service: "tests", level: "warn" }),
  };
  const topics = prefixTopics(topicSettings, topicPrefix);
  await ensureTopics({ ...connection, replicationFactor: 1, topics });
  if (getTestSaslConnection(services[0] ?? "") === undefined) return;
  for (const service of services) {
    const usage = prefixUsage({ group: service, ...topicUsage[service] }, topicPrefix);
    await grantKafkaAccess({ ...connection, principal: `User:${service}`, usage });
  }
};

/**
 * Returns the Kafka environment variables of a service. If the brokers require authentication, each
 * service has its own user.
 */
export const buildKafkaEnv = (user: string): Env => {
  const saslConnection = getTestSaslConnection(user);
  if (saslConnection === undefined) return { KAFKA_BROKERS: getTestBrokers().join(",") };
  const { brokers, sasl } = saslConnection;
  return {
    KAFKA_BROKERS: brokers.join(","),
    KAFKA_SASL_MECHANISM: sasl.mechanism,
    KAFKA_SASL_USERNAME: sasl.username,
    KAFKA_SASL_PASSWORD: sasl.password,
  };
};

const createReplicaProcess = (service: ServiceName, internalPort: number, env: Env) => {
  let child: Child | undefined;
  let earlierOutput = "";
  return {
    output: () => earlierOutput + (child?.output() ?? ""),
    pid: () => child?.pid ?? -1,
    start: async () => {
      earlierOutput += child?.output() ?? "";
      child = startChild(`services/${service}/src/main.ts`, env);
      await waitUntilReady(child, internalPort);
    },
    kill: async () => {
      await child?.terminate("SIGKILL");
    },
    stop: async () => {
      await child?.terminate("SIGTERM");
    },
  };
};
