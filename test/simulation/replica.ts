import type { RequestListener } from "node:http";
import { type Service, createInternalApp } from "@payment-links/http";
import { createLinksApi, linksApiConfig, linksApiMigration } from "@payment-links/links-api";
import { connectPool } from "@payment-links/postgres";
import type { ServiceContext } from "@payment-links/process";
import { createLocalLimiter } from "@payment-links/rate-limit";
import { createLog, createMetrics, parseConfig } from "@payment-links/runtime";
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
import type { SimBus } from "./sim-bus.ts";
import { type SimProcess, type SimulatedWorld, runAs } from "./simulated-world.ts";

export const serviceNames = ["links-api", "settlement-listener", "webhook-dispatcher"] as const;
export type ServiceName = (typeof serviceNames)[number];

export const migrations = {
  "links-api": linksApiMigration,
  "settlement-listener": settlementListenerMigration,
  "webhook-dispatcher": webhookDispatcherMigration,
};

/** The dependencies of every process of an episode. */
export type ReplicaContext = {
  world: SimulatedWorld;
  bus: SimBus;
  urlOf: (role: string) => string;
  requestIntrospection: ServiceContext["requestIntrospection"];
  catalogue: ServiceContext["catalogue"];
  env: Readonly<Record<ServiceName, Readonly<Record<string, string>>>>;
  /** Receives log lines of level warn or higher. They are not part of the replay. */
  onLogLine: (line: string) => void;
};

/** A process of a service, from its start until it is killed. */
export type Replica = {
  name: ServiceName;
  simProcess: SimProcess;
  /** The public and internal listeners. Undefined before the start and if the start failed. */
  app: RequestListener | undefined;
  internalApp: RequestListener | undefined;
  hasFailed: boolean;
};

const unlimitedRate = { tokensPerSecond: 1_000_000, burst: 1_000_000 };
const connectionsMax = 6;

const createService = (
  name: ServiceName,
  context: ServiceContext,
  env: Readonly<Record<string, string>>,
): Service => {
  switch (name) {
    case "links-api":
      return createLinksApi(context, parseConfig(linksApiConfig, env));
    case "settlement-listener":
      return createSettlementListener(context, parseConfig(settlementListenerConfig, env));
    case "webhook-dispatcher":
      return createWebhookDispatcher(context, parseConfig(webhookDispatcherConfig, env), {
        resolve: () => Promise.resolve(["93.184.216.34"]),
        random: Math.random,
      });
  }
};

/** Starts a process. It is running when its `app` is set. */
export const startReplica = (
  replicaContext: ReplicaContext,
  name: ServiceName,
  number: number,
): Replica => {
  const { world } = replicaContext;
  const simProcess: SimProcess = { name: `${name} ${number}`, isDead: false, clients: new Set() };
  const replica: Replica = {
    name,
    simProcess,
    app: undefined,
    internalApp: undefined,
    hasFailed: false,
  };
  const startService = async (): Promise<void> => {
    const clock = world.createClock(simProcess);
    const url = replicaContext.urlOf(migrations[name].schema);
    const write = (line: string) =>
      void (simProcess.isDead || replicaContext.onLogLine(`${simProcess.name} ${line}`));
    const log = createLog({ service: name, level: "warn" }, { write });
    const pool = await connectPool({ url, applicationName: simProcess.name, connectionsMax, log });
    const context: ServiceContext = {
      pool,
      databaseUrl: url,
      bus: replicaContext.bus.createBus(simProcess),
      clock,
      log,
      metrics: createMetrics(name),
      limiter: createLocalLimiter({ clock }),
      limits: { perKey: unlimitedRate, perAddress: unlimitedRate },
      trustedProxies: [],
      requestIntrospection: replicaContext.requestIntrospection,
      fetchSolanaAccountState: () =>
        Promise.reject(new Error("no payer requests a Solana transaction")),
      fetchUsedAddresses: () => Promise.reject(new Error("the simulation adds no wallet")),
      sendReceipt: () => Promise.reject(new Error("the simulation sends no email")),
      catalogue: replicaContext.catalogue,
      baseUrl: "http://127.0.0.1:8080",
      checkoutUrl: "https://pay.example",
    };
    const service = createService(name, context, replicaContext.env[name]);
    const internalApp = createInternalApp({
      services: [service],
      isDraining: () => false,
      hostNames: ["pay.example"],
      log,
    });
    await service.start();
    replica.app = service.app;
    replica.internalApp = internalApp;
  };
  runAs(simProcess, startService).catch((error: unknown) => {
    replica.hasFailed = true;
    replicaContext.onLogLine(`${simProcess.name} could not start: ${String(error)}`);
  });
  return replica;
};
