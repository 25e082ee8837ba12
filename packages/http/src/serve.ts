import type { RequestListener } from "node:http";
import { isIPv6 } from "node:net";
import * as z from "zod";
import {
  type Clock,
  CommaList,
  type Log,
  type Metrics,
  Port,
  type StopList,
  TokenList,
} from "@payment-links/runtime";
import { type InternalRoute, createInternalApp } from "./internal-app.ts";
import { createRequestDrain, toDrainMsMax } from "./request-drain.ts";
import { registerConnectionMetrics } from "./connection-metrics.ts";
import { type HttpListener, connectionLimits, listen } from "./listen.ts";
import { isInNetworks, createNetworkList } from "./network-list.ts";
import type { Route } from "./route.ts";

/** A service that a process runs. The all-in-one process runs four of them. */
export type Service = {
  name: string;
  metrics: Metrics;
  /** Handles its public routes: every path that the ingress routes to this service. */
  app: RequestListener;
  /** The route table that `app` is built from. */
  publicRoutes: readonly Route[];
  internalRoutes: readonly InternalRoute[];
  /** Returns whether all required dependencies are available. */
  isReady: () => Promise<boolean>;
  /** Starts consumers, relay and jobs. */
  start: () => Promise<void>;
  /** Starts to end long-lived responses when the process begins to stop. */
  drain?: () => void;
  /** Finishes running work and stops. */
  stop: () => Promise<void>;
};

const loopback = new Set(["127.0.0.1", "::1", "localhost"]);

const ConnectionCount = z.coerce.number().int().min(1).max(100_000);

/** The addresses of a process (rule OPS-2) and the connection limits of each port (rule API-38). */
export const serveConfig = z
  .object({
    HOST: z.string().default("127.0.0.1"),
    PORT: Port.default(8080),
    INTERNAL_HOST: z.string().default("127.0.0.1"),
    INTERNAL_PORT: Port.default(8081),
    INTERNAL_TOKEN: TokenList.optional(),
    OPERATOR_TOKEN: TokenList.optional(),
    INTERNAL_HOSTNAMES: CommaList.default([]),
    DRAIN_DELAY_SECONDS: z.coerce.number().min(0).max(60).default(0),
    CONNECTIONS_MAX: ConnectionCount.default(connectionLimits.total),
    CONNECTIONS_PER_IP_MAX: ConnectionCount.default(connectionLimits.perAddress),
  })
  .superRefine((config, context) => {
    const { INTERNAL_TOKEN: serviceTokens, OPERATOR_TOKEN: operatorTokens } = config;
    const addIssue = (name: "INTERNAL_TOKEN" | "OPERATOR_TOKEN", message: string) =>
      context.addIssue({ code: "custom", path: [name], message });
    const missingMessage = "is required because INTERNAL_HOST is not a loopback address";
    const isNotLoopback = !loopback.has(config.INTERNAL_HOST);
    if (isNotLoopback && serviceTokens === undefined) addIssue("INTERNAL_TOKEN", missingMessage);
    if (isNotLoopback && operatorTokens === undefined) addIssue("OPERATOR_TOKEN", missingMessage);
    if (operatorTokens?.some((token) => serviceTokens?.includes(token))) {
      addIssue(
        "OPERATOR_TOKEN",
        "must not contain a value of INTERNAL_TOKEN, which grants less access",
      );
    }
  });
export type ServeConfig = z.output<typeof serveConfig>;

const getDrainDelayMs = (config: ServeConfig): number => config.DRAIN_DELAY_SECONDS * 1000;

/** Returns the longest time that a stopping process still accepts connections. */
export const getDrainMsMax = (config: ServeConfig): number => toDrainMsMax(getDrainDelayMs(config));

type InternalListenerOptions = {
  config: ServeConfig;
  /** The names of the services that will start. Probes can use them as host name before that. */
  serviceNames?: readonly string[];
  /** Addresses and CIDRs that are exempt from the per-address connection limit. */
  trustedProxies: readonly string[];
  stopList: StopList;
  clock: Clock;
  log: Log;
};

type PublicListenerOptions = {
  app: RequestListener;
  services: readonly Service[];
  /** Metrics of the process itself, if it runs several services. */
  processMetrics?: readonly Metrics[];
  /** Returns why the process must be restarted, or undefined while it works. */
  getStallReason?: () => string | undefined;
};

/** The internal listener, which a process starts first. */
export type InternalListener = {
  port: number;
  /**
   * Sets what the process waits for during startup. `/readyz` reports the reason, and each new
   * reason is logged once.
   */
  setStartupWaitReason: (reason: string) => void;
  /**
   * Starts the public listener once the services have started, and lets both listeners serve them.
   * Adds an orderly shutdown to the stop list:
   *
   * 1. The process reports that it is not ready.
   * 2. It waits for the drain delay. During this time, load balancers remove the process, and each
   *   response closes its connection. If requests still arrive, it waits up to one more drain
   *   delay.
   * 3. It stops accepting connections.
   * 4. It sends the remaining responses.
   */
  startPublicListener: (options: PublicListenerOptions) => Promise<{ port: number }>;
};

/** Opens the internal port of a starting process. The process is alive but not ready. */
export const startInternalListener = async (
  options: InternalListenerOptions,
): Promise<InternalListener> => {
  const { clock, config, log, serviceNames = [], stopList } = options;
  const limits = { total: config.CONNECTIONS_MAX, perAddress: config.CONNECTIONS_PER_IP_MAX };
  const trustedProxyNetworks = createNetworkList(options.trustedProxies);
  let isDraining = false;
  let startupWaitReason: string | undefined = "services are starting";
  const createApp = (publicOptions: Omit<PublicListenerOptions, "app">) =>
    createInternalApp({
      ...publicOptions,
      isDraining: () => isDraining,
      getStartupWaitReason: () => startupWaitReason,
      tokens: { services: config.INTERNAL_TOKEN ?? [], operators: config.OPERATOR_TOKEN ?? [] },
      hostNames: listHostNames(config, serviceNames, publicOptions.services),
      log,
    });
  let app = createApp({ services: [] });
  const requestDrain = createRequestDrain(clock);
  const internalListener = await listen({
    handler: (req, res) => {
      // Only internal calls are counted, because kubelets and scrapers never stop sending requests.
      if (req.url?.startsWith("/internal/")) requestDrain.recordRequest();
      app(req, res);
    },
    host: config.INTERNAL_HOST,
    port: config.INTERNAL_PORT,
    portVariable: "INTERNAL_PORT",
    limits,
    clock,
  });
  stopList.add("internal port", () => internalListener.close());
  return {
    port: internalListener.port,
    setStartupWaitReason: (reason) => {
      if (reason !== startupWaitReason) log.warn({ reason }, "waiting to start");
      startupWaitReason = reason;
    },
    startPublicListener: async (publicOptions) => {
      const publicListener: HttpListener = await listen({
        handler: (req, res) => {
          requestDrain.recordRequest();
          publicOptions.app(req, res);
        },
        host: config.HOST,
        port: config.PORT,
        portVariable: "PORT",
        limits,
        isExempt: (address) => isInNetworks(trustedProxyNetworks, address),
        clock,
      });
      const metrics = publicOptions.processMetrics?.[0] ?? publicOptions.services[0]?.metrics;
      if (metrics !== undefined)
        registerConnectionMetrics(metrics, { public: publicListener, internal: internalListener });
      stopList.add("ports", async () => {
        isDraining = true;
        publicListener.drain();
        internalListener.drain();
        for (const service of publicOptions.services) service.drain?.();
        await requestDrain.waitUntilQuiet(getDrainDelayMs(config));
        await publicListener.close();
        // Closed after the public port, while everything that internal calls need still works.
        await internalListener.close();
      });
      app = createApp(publicOptions);
      startupWaitReason = undefined;
      return { port: publicListener.port };
    },
  };
};

/** Starts both listeners of a process whose services have started. */
export const startListeners = async (
  options: InternalListenerOptions & PublicListenerOptions,
): Promise<{ port: number; internalPort: number }> => {
  const serviceNames = options.services.map(({ name }) => name);
  const internalListener = await startInternalListener({ ...options, serviceNames });
  const { port } = await internalListener.startPublicListener(options);
  return { port, internalPort: internalListener.port };
};

const listHostNames = (
  config: ServeConfig,
  serviceNames: readonly string[],
  services: readonly Service[],
): string[] =>
  ["localhost", "127.0.0.1", "::1", config.INTERNAL_HOST]
    .concat(
      serviceNames,
      services.map(({ name }) => name),
      config.INTERNAL_HOSTNAMES,
    )
    .map(toHostName);

/** Formats a name for a `Host` header or a URL, where an IPv6 address has brackets. */
export const toHostName = (name: string): string =>
  (isIPv6(name) ? `[${name}]` : name).toLowerCase();
