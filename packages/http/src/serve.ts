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
import { createLateCallers, drainMsMaxOf } from "./late-callers.ts";
import { measureConnections } from "./connection-metrics.ts";
import { type Listening, connectionLimits, listen } from "./listen.ts";
import { isInNetworks, networksOf } from "./networks.ts";
import type { Route } from "./route.ts";

/** A service as a process runs it; the all-in-one runs four of them. */
export type Service = {
  name: string;
  metrics: Metrics;
  /** Its public routes: every path that the ingress sends to it. */
  app: RequestListener;
  /** The table from which `app` is built: who may call what. */
  publicRoutes: readonly Route[];
  internalRoutes: readonly InternalRoute[];
  /** Whether everything is there without which the service cannot work. */
  isReady: () => Promise<boolean>;
  /** Starts consumers, relay and jobs. */
  start: () => Promise<void>;
  /** Ends what its callers would hold open, at the beginning of the stop. */
  drain?: () => void;
  /** Finishes what was begun, and stops them. */
  stop: () => Promise<void>;
};

const loopback = new Set(["127.0.0.1", "::1", "localhost"]);

const ConnectionCount = z.coerce.number().int().min(1).max(100_000);

/** The addresses of a process (rule OPS-2) and the connections of each port (rule API-38). */
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
    CONNECTIONS_MAX: ConnectionCount.default(connectionLimits.inAll),
    CONNECTIONS_PER_IP_MAX: ConnectionCount.default(connectionLimits.perAddress),
  })
  .superRefine((config, context) => {
    const { INTERNAL_TOKEN: ofServices, OPERATOR_TOKEN: ofOperators } = config;
    const complain = (name: "INTERNAL_TOKEN" | "OPERATOR_TOKEN", message: string) =>
      context.addIssue({ code: "custom", path: [name], message });
    const missing = "is required where INTERNAL_HOST is not a loopback address";
    const isOpen = !loopback.has(config.INTERNAL_HOST);
    if (isOpen && ofServices === undefined) complain("INTERNAL_TOKEN", missing);
    if (isOpen && ofOperators === undefined) complain("OPERATOR_TOKEN", missing);
    if (ofOperators?.some((token) => ofServices?.includes(token))) {
      complain("OPERATOR_TOKEN", "has a value of INTERNAL_TOKEN, which opens less");
    }
  });
export type ServeConfig = z.output<typeof serveConfig>;

const drainDelayMsOf = (config: ServeConfig): number => config.DRAIN_DELAY_SECONDS * 1000;

/** How long a stopping process goes on taking connections at most. */
export const drainMsMax = (config: ServeConfig): number => drainMsMaxOf(drainDelayMsOf(config));

type InternalPortOptions = {
  config: ServeConfig;
  /** The names of the services that will run here, by which probes may call before they have started. */
  names?: readonly string[];
  /** Addresses and CIDRs to which the limit of connections per address does not apply. */
  trustedProxies: readonly string[];
  stopList: StopList;
  clock: Clock;
  log: Log;
};

type OpenOptions = {
  app: RequestListener;
  services: readonly Service[];
  /** What is told of the process itself, where it runs several services. */
  processMetrics?: readonly Metrics[];
  /** Why only a new process would help, in words; undefined while this one lives. */
  whyStalled?: () => string | undefined;
};

/** The face that a process has from its first second. */
export type InternalPort = {
  port: number;
  /** Says what the start waits for, in words: `/readyz` tells it, and the log tells it once. */
  waitFor: (what: string) => void;
  /**
   * Serves both faces, once the services have started. The stop list gets the orderly end: not
   * ready; the drain delay, in which load balancers notice and clients leave with their answers, and
   * as long again at most while somebody still calls; no new connections; the last answers.
   */
  open: (options: OpenOptions) => Promise<{ port: number }>;
};

/** Opens the internal port of a process that is about to start: alive, not ready. */
export const openInternalPort = async (options: InternalPortOptions): Promise<InternalPort> => {
  const { clock, config, log, names = [], stopList } = options;
  const limits = { inAll: config.CONNECTIONS_MAX, perAddress: config.CONNECTIONS_PER_IP_MAX };
  const proxies = networksOf(options.trustedProxies);
  let isDraining = false;
  let awaited: string | undefined = "its services start";
  const createApp = (given: Omit<OpenOptions, "app">) =>
    createInternalApp({
      ...given,
      isDraining: () => isDraining,
      waitsFor: () => awaited,
      tokens: { services: config.INTERNAL_TOKEN ?? [], operators: config.OPERATOR_TOKEN ?? [] },
      hostNames: hostNamesOf(config, [...names, ...given.services.map(({ name }) => name)]),
      log,
    });
  let app = createApp({ services: [] });
  const lateCallers = createLateCallers(clock);
  const internal = await listen({
    handler: (req, res) => {
      // Kubelets and scrapers ask for as long as the process lives.
      if (req.url?.startsWith("/internal/")) lateCallers.called();
      app(req, res);
    },
    host: config.INTERNAL_HOST,
    port: config.INTERNAL_PORT,
    variable: "INTERNAL_PORT",
    limits,
    clock,
  });
  stopList.add("internal port", () => internal.close());
  return {
    port: internal.port,
    waitFor: (what) => {
      if (what !== awaited) log.warn({ reason: what }, "the start waits");
      awaited = what;
    },
    open: async (given) => {
      const open: Listening = await listen({
        handler: (req, res) => {
          lateCallers.called();
          given.app(req, res);
        },
        host: config.HOST,
        port: config.PORT,
        variable: "PORT",
        limits,
        isExempt: (address) => isInNetworks(proxies, address),
        clock,
      });
      const metrics = given.processMetrics?.[0] ?? given.services[0]?.metrics;
      if (metrics !== undefined) measureConnections(metrics, { public: open, internal });
      stopList.add("ports", async () => {
        isDraining = true;
        open.drain();
        internal.drain();
        for (const service of given.services) service.drain?.();
        await lateCallers.left(drainDelayMsOf(config));
        await open.close();
        // Now, while everything that its calls need is still there.
        await internal.close();
      });
      app = createApp(given);
      awaited = undefined;
      return { port: open.port };
    },
  };
};

/** Serves both faces of a process whose services have started. */
export const serve = async (
  options: InternalPortOptions & OpenOptions,
): Promise<{ port: number; internalPort: number }> => {
  const names = options.services.map(({ name }) => name);
  const internal = await openInternalPort({ ...options, names });
  const { port } = await internal.open(options);
  return { port, internalPort: internal.port };
};

const hostNamesOf = (config: ServeConfig, names: readonly string[]): string[] =>
  ["localhost", "127.0.0.1", "::1", config.INTERNAL_HOST]
    .concat(names, config.INTERNAL_HOSTNAMES)
    .map(asHostName);

/** A name as in a `Host` header or a URL, where an IPv6 address has brackets. */
export const asHostName = (name: string): string =>
  (isIPv6(name) ? `[${name}]` : name).toLowerCase();
