import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { loadCatalogue } from "@payment-links/contracts";
import type { TestDatabase } from "@payment-links/postgres/testing";
import { bitcoin } from "../chain-kinds.ts";
import { createChain } from "../chain.ts";
import { createModel } from "../model.ts";
import type { Provider } from "../node-view.ts";
import { createRandom } from "../random.ts";
import type { ReplicaContext } from "../replica.ts";
import { createIntrospectionStub } from "../shop/accounts.ts";
import { noticeProvider } from "../shop/notices.ts";
import { receiverHosts } from "../shop/webhook-receivers.ts";
import { createShop } from "../shop/shop.ts";
import { createSimBus } from "../sim-bus.ts";
import { createSimulatedWorld } from "../simulated-world.ts";
import { createBlockSchedule } from "./block-schedule.ts";
import type { Episode } from "./episode.ts";
import { generateFaultProfile, pickRareTroubles } from "./fault-profile.ts";
import { createProcesses } from "./processes.ts";
import { generateProviders, createProviderSchedule } from "./provider-schedule.ts";
import { type ChainWatchConfig, pickWatchConfig } from "./chain-watch-config.ts";

/** The environment in which episodes run. */
export type EpisodeContext = {
  admin: Client;
  database: TestDatabase;
  /** A folder for the files that a service reads. */
  configFolder: string;
  onTraceLine?: (line: string) => void;
  shouldStop: () => boolean;
};

const startedAt = new Date("2026-11-21T10:00:00.000Z");
const logLinesMax = 60;
const secretKey = `test=${Buffer.alloc(32, 7).toString("base64")}`;

/** Creates the participants of an episode at random. */
export const createEpisode = (
  seed: number,
  { admin, database, configFolder, onTraceLine, shouldStop }: EpisodeContext,
): { episode: Episode; logLines: readonly string[] } => {
  const world = createSimulatedWorld(createRandom(seed), startedAt, onTraceLine);
  const { random } = world;
  const watchConfig = pickWatchConfig(random);
  const { kind } = watchConfig;
  const isBitcoin = kind === bitcoin;
  world.count(`episodes on ${kind.chainType}`);
  const model = createModel({ count: world.count, publishesUnconfirmed: isBitcoin });
  const rareTroubles = pickRareTroubles(seed);
  for (const rareTrouble of rareTroubles) world.count(`rare trouble: ${rareTrouble}`);
  const hasHeavyTransactions = rareTroubles.has("heavy transactions");
  const chain = createChain(world, kind, {
    getRequiredDepth: watchConfig.getRequiredDepth,
    hasHeavyTransactions,
  });
  const { depositBaseUnitsMin } = watchConfig;
  const shop = createShop({ world, model, chain, kind, depositBaseUnitsMin });
  const providers = generateProviders(random, kind);
  const bus = createSimBus(world, {
    onPublished: model.onRecordPublished,
    onLost: model.onRecordLost,
  });
  const logLines: string[] = [];
  const processes = createProcesses({
    world,
    bus,
    urlOf: (role) => database.getRoleUrl(role),
    requestIntrospection: createIntrospectionStub(shop.accounts),
    catalogue: loadCatalogue(),
    env: createEnvironments(watchConfig, providers, configFolder),
    onLogLine: (line) => {
      logLines.push(`${world.steps()} ${line.trim()}`);
      if (logLines.length > logLinesMax) logLines.shift();
    },
  });
  // After a restore, the listener no longer knows which transfers are older than a link.
  const avoidsRestore = isBitcoin && rareTroubles.has("late links");
  const faultProfile = {
    ...generateFaultProfile(random, { isBitcoin }),
    ...(avoidsRestore && { dumpChance: 0 }),
    rareTroubles,
  };
  const episode: Episode = {
    world,
    admin,
    faultProfile,
    chain,
    blockSchedule: createBlockSchedule(world, chain, faultProfile),
    providerSchedule: createProviderSchedule(random, providers),
    bus,
    shop,
    model,
    processes,
    operatorState: {
      storedDump: undefined,
      isRecovering: false,
      mustRepublish: false,
      sharedBlock: undefined,
    },
    isInjectingFaults: false,
    hasStarted: false,
    failure: undefined,
    shouldStop,
  };
  return { episode, logLines };
};

const createEnvironments = (
  { kind: { chainId }, settings }: ChainWatchConfig,
  providers: readonly Provider[],
  configFolder: string,
): ReplicaContext["env"] => {
  const chainsFile = join(configFolder, "chains.json");
  writeFileSync(chainsFile, JSON.stringify({ [chainId]: settings }));
  return {
    "links-api": { SETTLEMENT_CHAINS: chainId },
    "settlement-listener": {
      SETTLEMENT_PROVIDER_SECRETS: `${noticeProvider.name}=${noticeProvider.secret}`,
      RPC_URLS: providers.map(({ host }) => `${chainId}=http://${host}:8545`).join(","),
      CHAINS_FILE: chainsFile,
    },
    "webhook-dispatcher": {
      WEBHOOK_SECRET_KEYS: secretKey,
      WEBHOOK_HOST_OVERRIDES: receiverHosts.map((host) => `${host}=http://127.0.0.1:9`).join(","),
      // The third attempt happens after the faults have stopped, so no delivery fails permanently.
      WEBHOOK_RETRY_SCHEDULE_SECONDS: "0,20,60,120,240,480",
    },
  };
};
