import { randomBytes } from "node:crypto";
import { authKeysConfig, authKeysMigration, createAuthKeys } from "@payment-links/auth-keys";
import { createLocalBus } from "@payment-links/bus";
import {
  type FetchSolanaAccountState,
  type FetchUsedAddresses,
  type SendReceipt,
  type Catalogue,
  type CatalogueData,
  devnet,
  loadCatalogue,
} from "@payment-links/contracts";
import {
  type Service,
  toHostName,
  getDrainMsMax,
  listen,
  startListeners,
} from "@payment-links/http";
import type { RequestIntrospection } from "@payment-links/identity";
import {
  type ReadEndedLink,
  createLinksApi,
  linksApiConfig,
  linksApiMigration,
} from "@payment-links/links-api";
import { type Migration, migrate, connectPool } from "@payment-links/postgres";
import { type ServiceContext, warnAboutInsecureCookie } from "@payment-links/process";
import { createLocalLimiter } from "@payment-links/rate-limit";
import {
  type Environment,
  type Log,
  type Metrics,
  type StopList,
  addProcessMetrics,
  createLog,
  createMetrics,
  startTracing,
  parseConfig,
  stopOnSignal,
  systemClock,
} from "@payment-links/runtime";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "@payment-links/settlement-listener";
import {
  createWebhookDispatcher,
  webhookDispatcherConfig,
  webhookDispatcherMigration,
} from "@payment-links/webhook-dispatcher";
import { type AllInOneConfig, allInOneConfig } from "./config.ts";
import { type DataDir, prepareDataDir } from "./data-dir.ts";
import { demoTokenIds, createDemoAccount } from "./demo.ts";
import type { LocalChain } from "./devnet/local-chain.ts";
import { createPayLinkRoute } from "./devnet/pay-link.ts";
import {
  localCatalogueData,
  rejectConfiguredLocalChains,
  startLocalChains,
  addLocalChainVariables,
} from "./devnet/start-local-chains.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";
import { type ServiceName, createIngress } from "./ingress.ts";

type AllInOneOptions = {
  environment: Environment;
  stopList: StopList;
  log: Log;
  /** Whether to start development chains. With NODE_ENV=production, they never start. */
  isDevnetEnabled: boolean;
  /** Prints a message for the user who started the process, not a log line. */
  printLine: (line: string) => void;
};

type SchemaMigration = Pick<Migration, "schema" | "folders">;

const connectionsMaxPerService = 10;

/**
 * Runs the four services in this process on one origin, with an embedded Postgres in `DATA_DIR`,
 * the local bus and in-process token buckets. Outside production it also runs development chains.
 * The services run the same code as in separate processes; only their dependencies differ.
 */
export const startAllInOne = async (options: AllInOneOptions): Promise<void> => {
  const { environment, stopList, log, printLine } = options;
  const config = parseConfig(allInOneConfig, environment);
  stopOnSignal(stopList, log, getDrainMsMax(config));
  warnAboutInsecureCookie(config, log);
  const localChainNames =
    options.isDevnetEnabled && !isProduction(config) ? config.DEVNET_CHAINS : [];
  rejectConfiguredLocalChains(environment, localChainNames);
  await requireFreePorts(config);
  const dataDir = prepareDataDir(config.DATA_DIR, { isDemoAllowed: !isProduction(config) });
  const localChains = await startLocalChains({
    ...options,
    names: localChainNames,
    evmPort: config.DEVNET_PORT,
    directory: dataDir.path,
  });
  const { services, metrics, catalogue } = await startServices(options, config, {
    dataDir,
    localChains,
  });
  const { port, internalPort } = await startListeners({
    config,
    app: createIngress({
      "auth-keys": services["auth-keys"].app,
      "links-api": services["links-api"].app,
      "settlement-listener": services["settlement-listener"].app,
      "webhook-dispatcher": services["webhook-dispatcher"].app,
    }),
    services: Object.values(services).map((service) =>
      localChains.length === 0
        ? service
        : addPaymentRoute(service, config, { localChains, ...services["links-api"] }),
    ),
    processMetrics: [metrics],
    trustedProxies: config.TRUSTED_PROXIES,
    stopList,
    clock: systemClock,
    log,
  });
  const urls = {
    baseUrl: formatUrl(config.HOST, port),
    internalUrl: formatUrl(config.INTERNAL_HOST, internalPort),
  };
  if (dataDir.webhookSecretKeys.isNew && !isConfigured(environment, "WEBHOOK_SECRET_KEYS")) {
    printLine(`Webhook secrets are encrypted with ${dataDir.webhookSecretKeys.file}: back it up.`);
  }
  if (dataDir.isDemoWanted) {
    const operatorToken = config.OPERATOR_TOKEN?.[0];
    const tokenIds = demoTokenIds(catalogue, {
      hasDevnet: localChains.some(({ chainId }) => chainId === devnet.chainId),
    });
    await createDemo(options, dataDir, { ...urls, operatorToken, tokenIds });
  }
  printLine(`Payment Links is ready at ${config.BASE_URL ?? urls.baseUrl}`);
};

/** Returns the URL at which this process can reach its own port. */
const formatUrl = (host: string, port: number): string => {
  const isWildcardHost = host === "0.0.0.0" || host === "::";
  return `http://${toHostName(isWildcardHost ? "127.0.0.1" : host)}:${port}`;
};

const isProduction = ({ NODE_ENV: nodeEnv }: AllInOneConfig): boolean => nodeEnv === "production";

/** Creates the demo account. If that fails, logs a warning; the services run without it. */
const createDemo = async (
  { environment, log, printLine }: AllInOneOptions,
  dataDir: DataDir,
  demoOptions: Parameters<typeof createDemoAccount>[0],
): Promise<void> => {
  const demoAccount = await createDemoAccount(demoOptions).catch((error: unknown) => {
    log.warn({ err: error }, "could not create the demo account, retrying at the next start");
    return undefined;
  });
  if (demoAccount === undefined) return;
  const { signInUrl } = demoAccount;
  dataDir.markDemoCreated();
  if (demoOptions.tokenIds.length === 0) {
    printLine(
      'Demo account "demo" has no wallet, because the catalog lacks the test network of the demo.',
    );
  }
  printLine(`Demo account "demo": sign in once, within 15 minutes, at ${signInUrl}`);
  if (
    dataDir.demoSecret !== undefined &&
    !isConfigured(environment, "SETTLEMENT_PROVIDER_SECRETS")
  ) {
    printLine(`Demo settlement provider "demo", secret: ${dataDir.demoSecret}`);
  }
};

const addPaymentRoute = (
  service: Service,
  { HOST: host, PORT: port }: AllInOneConfig,
  {
    localChains,
    readEndedLink,
  }: { localChains: readonly LocalChain[]; readEndedLink: ReadEndedLink },
): Service => {
  if (service.name !== "settlement-listener") return service;
  const route = createPayLinkRoute({
    chains: localChains,
    publicUrl: formatUrl(host, port),
    readEndedLink,
  });
  return { ...service, internalRoutes: [...service.internalRoutes, route] };
};

/**
 * Checks that the ports are free, before the database starts. A port in use is the most common
 * reason for a failed start.
 */
const requireFreePorts = async (config: AllInOneConfig): Promise<void> => {
  const handler = () => {};
  const ports = [
    { host: config.HOST, port: config.PORT, portVariable: "PORT" },
    { host: config.INTERNAL_HOST, port: config.INTERNAL_PORT, portVariable: "INTERNAL_PORT" },
  ];
  for (const port of ports) await (await listen({ handler, ...port })).close();
};

/** The dependencies that the four services share. */
type SharedContext = Omit<
  ServiceContext,
  | "pool"
  | "databaseUrl"
  | "requestIntrospection"
  | "fetchSolanaAccountState"
  | "fetchUsedAddresses"
  | "sendReceipt"
  | "log"
  | "metrics"
>;

type ServiceInputs = {
  dataDir: DataDir;
  /** The development chains that are running. */
  localChains: readonly LocalChain[];
};

type CreatedServices = {
  services: Record<ServiceName, Service> & { "links-api": { readEndedLink: ReadEndedLink } };
  metrics: Metrics;
  catalogue: Catalogue;
};

const startServices = async (
  options: AllInOneOptions,
  config: AllInOneConfig,
  { dataDir, localChains }: ServiceInputs,
): Promise<CreatedServices> => {
  const { environment, stopList } = options;
  const isTracingEnabled = config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
  stopList.add("tracing", await startTracing("payment-links", isTracingEnabled));
  const postgres = await startPostgres(options, dataDir);
  const metrics = createMetrics("all-in-one");
  addProcessMetrics(metrics);
  const sharedContext = createSharedContext(options, config, {
    metrics,
    // A link's token must stay in the catalogue for as long as the link exists.
    localData: isProduction(config) ? [] : localCatalogueData(localChains, dataDir.path),
  });
  const listenerLink = createListenerLink();
  const context = { ...sharedContext, ...listenerLink.clients };
  const createServiceContext = createContextFactory({
    config,
    sharedContext: context,
    stopList,
    adminUrl: postgres.url,
  });

  const environmentWithSecrets = { ...environment, ...getDefaultSecrets(environment, dataDir) };
  const serviceEnvironment = addLocalChainVariables(environmentWithSecrets, localChains);
  const rejectCall = () => Promise.reject(new Error("auth-keys must not call itself"));
  const authKeys = createAuthKeys(
    await createServiceContext("auth-keys", authKeysMigration, {
      requestIntrospection: rejectCall,
      sendReceipt: rejectCall,
    }),
    parseConfig(authKeysConfig, serviceEnvironment),
  );
  const services = {
    // Consumers start before the services that publish their events and stop after them, so they
    // also receive events that are published during the shutdown.
    "webhook-dispatcher": createWebhookDispatcher(
      await createServiceContext("webhook-dispatcher", webhookDispatcherMigration, authKeys),
      parseConfig(webhookDispatcherConfig, serviceEnvironment),
    ),
    "links-api": createLinksApi(
      await createServiceContext("links-api", linksApiMigration, authKeys),
      parseConfig(linksApiConfig, serviceEnvironment),
    ),
    "settlement-listener": createSettlementListener(
      await createServiceContext("settlement-listener", settlementListenerMigration, authKeys),
      parseConfig(settlementListenerConfig, serviceEnvironment),
    ),
    "auth-keys": authKeys,
  };
  listenerLink.connect(services["settlement-listener"]);
  for (const service of Object.values(services)) {
    stopList.add(service.name, () => service.stop());
    await service.start();
  }
  return { services, metrics, catalogue: sharedContext.catalogue };
};

const startPostgres = async (
  { stopList, printLine }: AllInOneOptions,
  dataDir: DataDir,
): Promise<EmbeddedPostgres> => {
  const startingPostgres = startEmbeddedPostgres({
    directory: dataDir.postgres,
    report: printLine,
    // Only a restart can recover from this. During a shutdown, Postgres may have received the same
    // signal as this process.
    onUnexpectedExit: () => {
      if (stopList.isStopping()) return;
      throw new Error("PostgreSQL exited unexpectedly, and the services cannot run without it");
    },
  });
  // Also stops a server that is still starting, because it would otherwise keep running after this
  // process. The caller reports errors of the start.
  stopList.add("postgres", async () => (await startingPostgres.catch(() => undefined))?.stop());
  return startingPostgres;
};

const createSharedContext = (
  { stopList, log }: AllInOneOptions,
  config: AllInOneConfig,
  { metrics, localData }: { metrics: Metrics; localData: readonly CatalogueData[] },
): SharedContext => {
  const bus = createLocalBus({
    groups: ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"],
    log,
  });
  stopList.add("bus", () => bus.close());
  const baseUrl = config.BASE_URL ?? `http://127.0.0.1:${config.PORT}`;
  return {
    bus,
    limiter: createLocalLimiter({ clock: systemClock, metrics }),
    limits: { perKey: config.RATE_LIMIT_PER_KEY, perAddress: config.RATE_LIMIT_PER_IP },
    trustedProxies: config.TRUSTED_PROXIES,
    catalogue: loadCatalogue(config.CATALOGUE_FILE, localData),
    clock: systemClock,
    baseUrl,
    checkoutUrl: config.CHECKOUT_URL ?? baseUrl,
  };
};

type SettlementClients = {
  fetchSolanaAccountState: FetchSolanaAccountState;
  fetchUsedAddresses: FetchUsedAddresses;
};

/**
 * Creates clients for settlement-listener, for services that are created before it. Their calls
 * fail until `connect` is called.
 */
const createListenerLink = () => {
  let connectedListener: SettlementClients | undefined;
  const requireListener = (): SettlementClients => {
    if (connectedListener === undefined) throw new Error("settlement-listener does not exist yet");
    return connectedListener;
  };
  const clients: SettlementClients = {
    fetchSolanaAccountState: async (request) => requireListener().fetchSolanaAccountState(request),
    fetchUsedAddresses: async (request) => requireListener().fetchUsedAddresses(request),
  };
  const connect = (listener: SettlementClients): void => {
    connectedListener = listener;
  };
  return { clients, connect };
};

type ServiceContextOptions = {
  config: AllInOneConfig;
  sharedContext: SharedContext &
    Pick<ServiceContext, "fetchSolanaAccountState" | "fetchUsedAddresses">;
  stopList: StopList;
  adminUrl: string;
};

/** What the other services ask auth-keys to do. */
type AuthKeysCalls = { requestIntrospection: RequestIntrospection; sendReceipt: SendReceipt };

const createContextFactory =
  ({ config, sharedContext, stopList, adminUrl }: ServiceContextOptions) =>
  async (
    name: ServiceName,
    schema: SchemaMigration,
    { requestIntrospection, sendReceipt }: AuthKeysCalls,
  ): Promise<ServiceContext> => {
    const databaseUrl = await prepareSchema(adminUrl, schema);
    const log = createLog({ service: name, level: config.LOG_LEVEL });
    const pool = await connectPool({
      url: databaseUrl,
      applicationName: name,
      connectionsMax: connectionsMaxPerService,
      log,
    });
    stopList.add(`${name} database`, () => pool.end());
    return {
      ...sharedContext,
      pool,
      databaseUrl,
      requestIntrospection,
      sendReceipt,
      log,
      metrics: createMetrics(name),
    };
  };

const isConfigured = (environment: Environment, name: string): boolean =>
  [name, `${name}_FILE`].some((variable) => (environment[variable] ?? "") !== "");

/** Returns the data folder's secrets, except those that the environment sets. */
const getDefaultSecrets = (environment: Environment, dataDir: DataDir): Environment => ({
  ...(isConfigured(environment, "WEBHOOK_SECRET_KEYS")
    ? {}
    : { WEBHOOK_SECRET_KEYS: dataDir.webhookSecretKeys.value }),
  ...(isConfigured(environment, "SETTLEMENT_PROVIDER_SECRETS") || dataDir.demoSecret === undefined
    ? {}
    : { SETTLEMENT_PROVIDER_SECRETS: `demo=${dataDir.demoSecret}` }),
});

/**
 * Migrates a service's schema, gives its role a new password, and returns the database URL. The
 * password is kept only in memory.
 */
const prepareSchema = async (
  adminUrl: string,
  { schema, folders }: SchemaMigration,
): Promise<string> => {
  const password = randomBytes(24).toString("hex");
  await migrate({ adminUrl, schema, folders, role: { name: schema, password } });
  const url = new URL(adminUrl);
  url.username = schema;
  url.password = password;
  return url.href;
};
