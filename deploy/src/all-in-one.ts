import { randomBytes } from "node:crypto";
import { authKeysConfig, authKeysMigration, createAuthKeys } from "@payment-links/auth-keys";
import { createLocalBus } from "@payment-links/bus";
import {
  type AskSolana,
  type AskUsedAddresses,
  type Catalogue,
  type CatalogueData,
  devnet,
  openCatalogue,
} from "@payment-links/contracts";
import { type Service, asHostName, drainMsMax, listen, serve } from "@payment-links/http";
import type { Ask } from "@payment-links/identity";
import {
  type ReadEndedLink,
  createLinksApi,
  linksApiConfig,
  linksApiMigration,
} from "@payment-links/links-api";
import { type Migration, migrate, openPool } from "@payment-links/postgres";
import { type Ground, warnOfInsecureCookie } from "@payment-links/process";
import { createLocalLimiter } from "@payment-links/rate-limit";
import {
  type Environment,
  type Log,
  type Metrics,
  type StopList,
  addProcessMetrics,
  openLog,
  openMetrics,
  openTracing,
  readConfig,
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
import { type DataDir, openDataDir } from "./data-dir.ts";
import { demoTokenIds, makeDemoAccount } from "./demo.ts";
import type { LocalChain } from "./devnet/local-chain.ts";
import { payLinkRoute } from "./devnet/pay-link.ts";
import {
  localCatalogueData,
  refuseNamedTwice,
  startLocalChains,
  withLocalChains,
} from "./devnet/start-local-chains.ts";
import { openEmbeddedPostgres } from "./embedded-postgres.ts";
import { type ServiceName, createIngress } from "./ingress.ts";

type AllInOneOptions = {
  environment: Environment;
  stopList: StopList;
  log: Log;
  /** Whether development chains are wanted; NODE_ENV=production has none. */
  withDevnet: boolean;
  /** Prints to the person who started it; this is not a log line. */
  say: (line: string) => void;
};

type Schema = Pick<Migration, "schema" | "folders">;

const connectionsMaxPerService = 10;

/**
 * Runs the four services in this process on one origin: an embedded Postgres in `DATA_DIR`, the local
 * bus, in-process token buckets, and outside production development chains. The services are the same
 * that run apart; only this wiring differs.
 */
export const startAllInOne = async (options: AllInOneOptions): Promise<void> => {
  const { environment, stopList, log, say } = options;
  const config = readConfig(allInOneConfig, environment);
  stopOnSignal(stopList, log, drainMsMax(config));
  warnOfInsecureCookie(config, log);
  const names = options.withDevnet && !isProduction(config) ? config.DEVNET_CHAINS : [];
  refuseNamedTwice(environment, names);
  await refuseTakenPorts(config);
  const dataDir = openDataDir(config.DATA_DIR, { withDemo: !isProduction(config) });
  const localChains = await startLocalChains({
    ...options,
    names,
    evmPort: config.DEVNET_PORT,
    directory: dataDir.path,
  });
  const { services, metrics, catalogue } = await openServices(options, config, {
    dataDir,
    localChains,
  });
  const { port, internalPort } = await serve({
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
        : addPayRoute(service, config, { localChains, ...services["links-api"] }),
    ),
    processMetrics: [metrics],
    trustedProxies: config.TRUSTED_PROXIES,
    stopList,
    clock: systemClock,
    log,
  });
  const urls = {
    baseUrl: urlAt(config.HOST, port),
    internalUrl: urlAt(config.INTERNAL_HOST, internalPort),
  };
  if (dataDir.webhookSecretKeys.isNew && !isGiven(environment, "WEBHOOK_SECRET_KEYS")) {
    say(`Webhook secrets are sealed with ${dataDir.webhookSecretKeys.file}: back it up.`);
  }
  if (dataDir.isDemoWanted) {
    const operatorToken = config.OPERATOR_TOKEN?.[0];
    const tokenIds = demoTokenIds(catalogue, {
      withDevnet: localChains.some(({ chainId }) => chainId === devnet.chainId),
    });
    await openDemo(options, dataDir, { ...urls, operatorToken, tokenIds });
  }
  say(`Payment Links is ready at ${config.BASE_URL ?? urls.baseUrl}`);
};

/** How this process reaches a port of its own. */
const urlAt = (host: string, port: number): string => {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  return `http://${asHostName(isEverywhere ? "127.0.0.1" : host)}:${port}`;
};

const isProduction = ({ NODE_ENV: mode }: AllInOneConfig): boolean => mode === "production";

/** Makes the demo; a configuration that leaves it no way keeps nothing else from starting. */
const openDemo = async (
  { environment, log, say }: AllInOneOptions,
  dataDir: DataDir,
  demo: Parameters<typeof makeDemoAccount>[0],
): Promise<void> => {
  const made = await makeDemoAccount(demo).catch((error: unknown) => {
    log.warn({ err: error }, "the demo account could not be made; the next start tries again");
    return undefined;
  });
  if (made === undefined) return;
  const { signInUrl } = made;
  dataDir.demoIsMade();
  if (demo.tokenIds.length === 0) {
    say('Demo account "demo" has no wallet, as the catalogue has no test network that it knows.');
  }
  say(`Demo account "demo": sign in once, within 15 minutes, at ${signInUrl}`);
  if (dataDir.demoSecret !== undefined && !isGiven(environment, "SETTLEMENT_PROVIDER_SECRETS")) {
    say(`Demo settlement provider "demo", secret: ${dataDir.demoSecret}`);
  }
};

const addPayRoute = (
  service: Service,
  { HOST: host, PORT: port }: AllInOneConfig,
  {
    localChains: chains,
    readEndedLink,
  }: { localChains: readonly LocalChain[]; readEndedLink: ReadEndedLink },
): Service => {
  if (service.name !== "settlement-listener") return service;
  const route = payLinkRoute({ chains, publicUrl: urlAt(host, port), readEndedLink });
  return { ...service, internalRoutes: [...service.internalRoutes, route] };
};

/** Checked before the database starts: a taken port is the commonest reason for a failed start. */
const refuseTakenPorts = async (config: AllInOneConfig): Promise<void> => {
  const handler = () => {};
  const ports = [
    { host: config.HOST, port: config.PORT, variable: "PORT" },
    { host: config.INTERNAL_HOST, port: config.INTERNAL_PORT, variable: "INTERNAL_PORT" },
  ];
  for (const port of ports) await (await listen({ handler, ...port })).close();
};

/** What the four services share. */
type Shared = Omit<
  Ground,
  "pool" | "databaseUrl" | "ask" | "askSolana" | "askUsedAddresses" | "log" | "metrics"
>;

type Found = {
  dataDir: DataDir;
  /** The development chains that run. */
  localChains: readonly LocalChain[];
};

type Opened = {
  services: Record<ServiceName, Service> & { "links-api": { readEndedLink: ReadEndedLink } };
  metrics: Metrics;
  catalogue: Catalogue;
};

const openServices = async (
  options: AllInOneOptions,
  config: AllInOneConfig,
  { dataDir, localChains }: Found,
): Promise<Opened> => {
  const { environment, stopList, say } = options;
  const isTraced = config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined;
  stopList.add("tracing", await openTracing("payment-links", isTraced));
  const opening = openEmbeddedPostgres({
    directory: dataDir.postgres,
    report: say,
    // Only another start can bring it back. Whoever stops us may have told Postgres as well.
    lost: () => {
      if (stopList.isStopping()) return;
      throw new Error("PostgreSQL has ended by itself, and nothing works without it");
    },
  });
  // Also one that is only being launched, which outlives this process. A failure is told below.
  stopList.add("postgres", async () => (await opening.catch(() => undefined))?.stop());
  const postgres = await opening;
  const metrics = openMetrics("all-in-one");
  addProcessMetrics(metrics);
  const shared = openShared(options, config, {
    metrics,
    // A link's token must stay in the catalogue for as long as the link exists.
    localData: isProduction(config) ? [] : localCatalogueData(localChains, dataDir.path),
  });
  const listener = createListenerLink();
  const ground = { ...shared, ...listener.questions };
  const openGround = createGroundOpener({
    config,
    shared: ground,
    stopList,
    adminUrl: postgres.url,
  });

  const secrets = { ...environment, ...ownSecrets(environment, dataDir) };
  const own = withLocalChains(secrets, localChains);
  const askNobody: Ask = () => Promise.reject(new Error("auth-keys asks itself"));
  const authKeys = createAuthKeys(
    await openGround("auth-keys", authKeysMigration, askNobody),
    readConfig(authKeysConfig, own),
  );
  const { ask } = authKeys;
  const services = {
    // Services start against the flow of events and stop with it, so that what one publishes while
    // it ends is still heard.
    "webhook-dispatcher": createWebhookDispatcher(
      await openGround("webhook-dispatcher", webhookDispatcherMigration, ask),
      readConfig(webhookDispatcherConfig, own),
    ),
    "links-api": createLinksApi(
      await openGround("links-api", linksApiMigration, ask),
      readConfig(linksApiConfig, own),
    ),
    "settlement-listener": createSettlementListener(
      await openGround("settlement-listener", settlementListenerMigration, ask),
      readConfig(settlementListenerConfig, own),
    ),
    "auth-keys": authKeys,
  };
  listener.connect(services["settlement-listener"]);
  for (const service of Object.values(services)) {
    stopList.add(service.name, () => service.stop());
    await service.start();
  }
  return { services, metrics, catalogue: shared.catalogue };
};

const openShared = (
  { stopList, log }: AllInOneOptions,
  config: AllInOneConfig,
  { metrics, localData }: { metrics: Metrics; localData: readonly CatalogueData[] },
): Shared => {
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
    catalogue: openCatalogue(config.CATALOGUE_FILE, localData),
    clock: systemClock,
    baseUrl,
    checkoutUrl: config.CHECKOUT_URL ?? baseUrl,
  };
};

type Questions = { askSolana: AskSolana; askUsedAddresses: AskUsedAddresses };

/** What links-api asks settlement-listener. links-api is made first, so the questions wait for the listener. */
const createListenerLink = () => {
  let made: Questions | undefined;
  const answering = (): Questions => {
    if (made === undefined) throw new Error("settlement-listener is not made yet");
    return made;
  };
  const questions: Questions = {
    askSolana: async (question) => answering().askSolana(question),
    askUsedAddresses: async (question) => answering().askUsedAddresses(question),
  };
  const connect = (listener: Questions): void => {
    made = listener;
  };
  return { questions, connect };
};

type GroundOptions = {
  config: AllInOneConfig;
  shared: Shared & Pick<Ground, "askSolana" | "askUsedAddresses">;
  stopList: StopList;
  adminUrl: string;
};

const createGroundOpener =
  ({ config, shared, stopList, adminUrl }: GroundOptions) =>
  async (name: ServiceName, schema: Schema, ask: Ask): Promise<Ground> => {
    const databaseUrl = await prepareSchema(adminUrl, schema);
    const log = openLog({ service: name, level: config.LOG_LEVEL });
    const pool = await openPool({
      url: databaseUrl,
      applicationName: name,
      connectionsMax: connectionsMaxPerService,
      log,
    });
    stopList.add(`${name} database`, () => pool.end());
    return { ...shared, pool, databaseUrl, ask, log, metrics: openMetrics(name) };
  };

const isGiven = (environment: Environment, name: string): boolean =>
  [name, `${name}_FILE`].some((variable) => (environment[variable] ?? "") !== "");

/** The secrets that the data folder holds, where the environment gives none. */
const ownSecrets = (environment: Environment, dataDir: DataDir): Environment => ({
  ...(isGiven(environment, "WEBHOOK_SECRET_KEYS")
    ? {}
    : { WEBHOOK_SECRET_KEYS: dataDir.webhookSecretKeys.value }),
  ...(isGiven(environment, "SETTLEMENT_PROVIDER_SECRETS") || dataDir.demoSecret === undefined
    ? {}
    : { SETTLEMENT_PROVIDER_SECRETS: `demo=${dataDir.demoSecret}` }),
});

/** Migrates a service's schema and gives its role a new password, which lives in memory alone. */
const prepareSchema = async (adminUrl: string, { schema, folders }: Schema): Promise<string> => {
  const password = randomBytes(24).toString("hex");
  await migrate({ adminUrl, schema, folders, role: { name: schema, password } });
  const url = new URL(adminUrl);
  url.username = schema;
  url.password = password;
  return url.href;
};
