import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { serviceBlocks } from "@payment-links/deploy/chart/service-blocks";
import { type Cluster, clientLabels, receiverLabels } from "./cluster.ts";
import type { ClusterConfig } from "./config.ts";

/** The path of the chart. */
export const chart = fileURLToPath(new URL("../../helm/payment-links", import.meta.url));
const installMsMax = 300_000;

/** The release that the scenarios share. `upgrade` can change what is installed. */
export type Release = {
  cluster: Cluster;
  /** The name prefix of the release's Services and Deployments. */
  name: string;
  /** The name of the Secret that contains all secrets of the release. */
  secretName: string;
  image(service: string): string;
  provider: { name: string; secret: string };
  /**
   * The port of the Kubernetes Service `receiver`. It routes webhooks for `https://receiver.test`
   * to the receiver's pod.
   */
  receiverPort: number;
  /**
   * The settings of the run. A scenario that needs an optional setting asserts that it is present.
   */
  config: ClusterConfig;
  /** The values that the release was installed with. */
  values: object;
  /** Runs SQL with the database role of the migrations. */
  runSql(sql: string): Promise<void>;
  /** Installs the chart or upgrades the release, with additional Helm arguments. */
  upgrade(args?: readonly string[]): Promise<void>;
};

/** The names of the Deployments without the prefix of the release. */
export const services = Object.values(serviceBlocks);

const secretName = "payment-links";
const receiverPort = 9_000;

/**
 * Installs the chart in a namespace that enforces the restricted level, and waits until it is
 * ready. The database, roles and topics are for this run only. `initialVersion` can be an older
 * chart with older images. `upgrade` then installs the current version.
 */
export const installRelease = async (
  cluster: Cluster,
  config: ClusterConfig,
  initialVersion = { chart, imageTag: config.IMAGE_TAG },
): Promise<Release> => {
  await createNamespace(cluster);
  const runId = randomBytes(4).toString("hex");
  const provider = {
    name: "provider",
    secret: `whsec_${randomBytes(24).toString("base64")}`,
  };
  const urls = databaseUrls(config, runId);
  const image = (service: string) => {
    const path = `payment-links/${service}:${config.IMAGE_TAG}`;
    return config.IMAGE_REGISTRY === "" ? path : `${config.IMAGE_REGISTRY}/${path}`;
  };
  await createDatabase(cluster, image("links-api"), config, urls.migrationDatabaseUrl);
  const runSql = async (sql: string) => {
    const env = { DATABASE_URL: urls.migrationDatabaseUrl, SQL: sql };
    await cluster.startProgram({
      name: "run-sql",
      file: "run-sql.mjs",
      image: image("links-api"),
      env,
    });
    await cluster.endProgram("run-sql");
  };
  await cluster.apply(createSecretManifest(config, urls, provider), createReceiverService());
  const installValues = createValues(config, runId);
  const install = async (chartPath: string, args: readonly string[]) => {
    const options = ["--install", "--wait", "--timeout", `${installMsMax / 1000}s`];
    await cluster.helm(
      ["upgrade", "payment-links", chartPath, ...options, "--values", "-", ...args],
      {
        timeoutMs: installMsMax + 30_000,
        input: JSON.stringify(installValues),
      },
    );
  };
  await install(initialVersion.chart, ["--set", `image.tag=${initialVersion.imageTag}`]);
  return {
    cluster,
    name: "payment-links",
    secretName,
    image,
    provider,
    receiverPort,
    config,
    values: installValues,
    runSql,
    upgrade: (args = []) => install(chart, args),
  };
};

/** Creates a namespace that enforces the restricted level. */
export const createNamespace = async (cluster: Cluster): Promise<void> => {
  await cluster.apply({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: cluster.namespace,
      labels: {
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/enforce-version": "latest",
      },
    },
  });
};

const schemas = {
  linksApiDatabaseUrl: "links_api",
  authKeysDatabaseUrl: "auth_keys",
  settlementListenerDatabaseUrl: "settlement_listener",
  webhookDispatcherDatabaseUrl: "webhook_dispatcher",
} as const;

/** Roles belong to the whole database server, so the names of the roles of two runs must differ. */
const databaseUrls = (config: ClusterConfig, runId: string) => {
  const urlFor = (role: string) => {
    const url = new URL(config.DATABASE_URL);
    url.username = `${role}_${runId}`;
    url.password = randomBytes(18).toString("base64url");
    url.pathname = `/payment_links_${runId}`;
    return url.href;
  };
  const serviceUrls = Object.entries(schemas).map(([name, role]) => [name, urlFor(role)] as const);
  return {
    ...(Object.fromEntries(serviceUrls) as Record<keyof typeof schemas, string>),
    migrationDatabaseUrl: urlFor("migrations"),
  };
};

const createDatabase = async (
  cluster: Cluster,
  image: string,
  { DATABASE_URL }: ClusterConfig,
  migrationDatabaseUrl: string,
): Promise<void> => {
  const name = "make-database";
  const env = { DATABASE_URL, MIGRATION_DATABASE_URL: migrationDatabaseUrl };
  await cluster.startProgram({ name, file: "make-database.mjs", image, env });
  await cluster.endProgram(name);
};

const createSecretManifest = (
  { REDIS_URL }: ClusterConfig,
  urls: ReturnType<typeof databaseUrls>,
  provider: Release["provider"],
) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: secretName },
  stringData: {
    "internal-token": randomBytes(24).toString("base64url"),
    "operator-token": randomBytes(24).toString("base64url"),
    ...Object.fromEntries(
      ["links-api", "settlement-listener", "webhook-dispatcher"].map((service) => [
        `${service}-operator-token`,
        randomBytes(24).toString("base64url"),
      ]),
    ),
    "redis-url": REDIS_URL,
    "webhook-secret-keys": `test=${randomBytes(32).toString("base64")}`,
    "settlement-provider-secrets": `${provider.name}=${provider.secret}`,
    ...Object.fromEntries(Object.entries(urls).map(([name, url]) => [toKebab(name), url])),
  },
});

const toKebab = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Creates a Service for the webhook receiver, because its pod is replaced between scenarios. */
const createReceiverService = () => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "receiver" },
  spec: {
    selector: receiverLabels,
    publishNotReadyAddresses: true,
    ports: [{ port: receiverPort, targetPort: receiverPort }],
  },
});

const createValues = (config: ClusterConfig, runId: string) => {
  const clients = [{ podSelector: { matchLabels: clientLabels } }];
  return {
    image: { registry: config.IMAGE_REGISTRY, tag: config.IMAGE_TAG },
    baseUrl: "https://pay.example.com",
    secrets: { existingSecret: secretName },
    // The whole load of a scenario comes from one pod and uses one API key.
    rateLimit: { perKey: "1000:2000", perIp: "1000:2000" },
    kafka: {
      brokers: config.KAFKA_BROKERS,
      topicPrefix: `${runId}.`,
      replicationFactor: config.KAFKA_REPLICATION_FACTOR,
    },
    networkPolicy: {
      edgeFrom: clients,
      metricsFrom: clients,
      postgres: { ports: [parsePort(config.DATABASE_URL, 5432)] },
      kafka: { ports: config.KAFKA_BROKERS.map((broker) => parsePort(`kafka://${broker}`, 9092)) },
      redis: { ports: [parsePort(config.REDIS_URL, 6379)] },
    },
    // The receiver's address is not publicly routable. The images' production mode would reject it.
    webhookDispatcher: {
      extraEnv: [
        { name: "NODE_ENV", value: "test" },
        {
          name: "WEBHOOK_HOST_OVERRIDES",
          value: `receiver.test=http://receiver:${receiverPort}`,
        },
      ],
      extraEgress: [{ ports: [{ port: receiverPort }], to: clients }],
    },
  };
};

const parsePort = (url: string, defaultPort: number): number =>
  Number(new URL(url).port || defaultPort);
