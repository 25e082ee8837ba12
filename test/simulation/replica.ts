import type { RequestListener } from "node:http";
import { type Service, createInternalApp } from "@payment-links/http";
import { createLinksApi, linksApiConfig, linksApiMigration } from "@payment-links/links-api";
import { openPool } from "@payment-links/postgres";
import type { Ground } from "@payment-links/process";
import { createLocalLimiter } from "@payment-links/rate-limit";
import { openLog, openMetrics, readConfig } from "@payment-links/runtime";
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
import { type Owner, type World, runAs } from "./world.ts";

export const serviceNames = ["links-api", "settlement-listener", "webhook-dispatcher"] as const;
export type ServiceName = (typeof serviceNames)[number];

export const migrations = {
  "links-api": linksApiMigration,
  "settlement-listener": settlementListenerMigration,
  "webhook-dispatcher": webhookDispatcherMigration,
};

/** What every process of an episode stands on. */
export type Stage = {
  world: World;
  bus: SimBus;
  urlOf: (role: string) => string;
  ask: Ground["ask"];
  catalogue: Ground["catalogue"];
  env: Readonly<Record<ServiceName, Readonly<Record<string, string>>>>;
  /** What a service logs as a warning or worse; not part of what is replayed. */
  logged: (line: string) => void;
};

/** One process of a service, from its start until it is killed. */
export type Replica = {
  name: ServiceName;
  owner: Owner;
  /** Its faces, once it has started; undefined before that, and where it could not. */
  app: RequestListener | undefined;
  internalApp: RequestListener | undefined;
  hasFailed: boolean;
};

const plenty = { tokensPerSecond: 1_000_000, burst: 1_000_000 };
const connectionsMax = 6;

const create = (
  name: ServiceName,
  ground: Ground,
  env: Readonly<Record<string, string>>,
): Service => {
  switch (name) {
    case "links-api":
      return createLinksApi(ground, readConfig(linksApiConfig, env));
    case "settlement-listener":
      return createSettlementListener(ground, readConfig(settlementListenerConfig, env));
    case "webhook-dispatcher":
      return createWebhookDispatcher(ground, readConfig(webhookDispatcherConfig, env), {
        resolve: () => Promise.resolve(["93.184.216.34"]),
        random: Math.random,
      });
  }
};

/** Starts a process; it is up once its `app` is there. */
export const startReplica = (stage: Stage, name: ServiceName, number: number): Replica => {
  const { world } = stage;
  const owner: Owner = { name: `${name} ${number}`, isDead: false, clients: new Set() };
  const replica: Replica = {
    name,
    owner,
    app: undefined,
    internalApp: undefined,
    hasFailed: false,
  };
  const start = async (): Promise<void> => {
    const clock = world.clockOf(owner);
    const url = stage.urlOf(migrations[name].schema);
    const write = (line: string) => void (owner.isDead || stage.logged(`${owner.name} ${line}`));
    const log = openLog({ service: name, level: "warn" }, { write });
    const pool = await openPool({ url, applicationName: owner.name, connectionsMax, log });
    const ground: Ground = {
      pool,
      databaseUrl: url,
      bus: stage.bus.of(owner),
      clock,
      log,
      metrics: openMetrics(name),
      limiter: createLocalLimiter({ clock }),
      limits: { perKey: plenty, perAddress: plenty },
      trustedProxies: [],
      ask: stage.ask,
      askSolana: () => Promise.reject(new Error("no payer pays on Solana")),
      askUsedAddresses: () => Promise.reject(new Error("nobody adds a wallet")),
      catalogue: stage.catalogue,
      baseUrl: "http://127.0.0.1:8080",
      checkoutUrl: "https://pay.example",
    };
    const service = create(name, ground, stage.env[name]);
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
  runAs(owner, start).catch((error: unknown) => {
    replica.hasFailed = true;
    stage.logged(`${owner.name} could not start: ${String(error)}`);
  });
  return replica;
};
