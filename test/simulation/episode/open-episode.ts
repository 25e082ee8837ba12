import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { openCatalogue } from "@payment-links/contracts";
import type { TestDatabase } from "@payment-links/postgres/testing";
import { bitcoin } from "../chain-kinds.ts";
import { createChain } from "../chain.ts";
import { createModel } from "../model.ts";
import type { Provider } from "../node-view.ts";
import { createRandom } from "../random.ts";
import type { Stage } from "../replica.ts";
import { openIntrospection } from "../shop/accounts.ts";
import { acme } from "../shop/notices.ts";
import { hostsOfReceivers } from "../shop/receivers.ts";
import { openShop } from "../shop/shop.ts";
import { createSimBus } from "../sim-bus.ts";
import { createWorld } from "../world.ts";
import { openBlocks } from "./blocks.ts";
import type { Episode } from "./episode.ts";
import { drawMood, drawRareTroubles } from "./mood.ts";
import { openProcesses } from "./processes.ts";
import { drawProviders, openProviders } from "./providers.ts";
import { type Way, drawWay } from "./ways.ts";

/** What episodes are played over. */
export type Ground = {
  admin: Client;
  database: TestDatabase;
  /** A folder for what a service reads from a file. */
  folder: string;
  heard?: (line: string) => void;
  isOver: () => boolean;
};

const startsAt = new Date("2026-11-21T10:00:00.000Z");
const logLinesMax = 60;
const sealingKey = `test=${Buffer.alloc(32, 7).toString("base64")}`;

/** Draws who takes part in an episode. */
export const openEpisode = (
  seed: number,
  { admin, database, folder, heard, isOver }: Ground,
): { episode: Episode; logLines: readonly string[] } => {
  const world = createWorld(createRandom(seed), startsAt, heard);
  const { random } = world;
  const way = drawWay(random);
  const { kind } = way;
  const isBitcoin = kind === bitcoin;
  world.count(`episodes on ${kind.chainType}`);
  const model = createModel({ count: world.count, isPlaceTold: isBitcoin });
  const rare = drawRareTroubles(seed);
  for (const trouble of rare) world.count(`rare trouble: ${trouble}`);
  const hasHeavyTransactions = rare.has("heavy transactions");
  const chain = createChain(world, kind, { depthOf: way.depthOf, hasHeavyTransactions });
  const { depositUnitsMin } = way;
  const shop = openShop({ world, model, chain, kind, depositUnitsMin });
  const nodes = drawProviders(random, kind);
  const bus = createSimBus(world, { kept: model.heard, lost: model.lost });
  const logLines: string[] = [];
  const processes = openProcesses({
    world,
    bus,
    urlOf: (role) => database.urlOf(role),
    ask: openIntrospection(shop.accounts),
    catalogue: openCatalogue(),
    env: envOf(way, nodes, folder),
    logged: (line) => {
      logLines.push(`${world.steps()} ${line.trim()}`);
      if (logLines.length > logLinesMax) logLines.shift();
    },
  });
  // A listener that is restored no longer knows which money is older than a link.
  const keepsListener = isBitcoin && rare.has("late links");
  const mood = { ...drawMood(random, { isBitcoin }), ...(keepsListener && { dump: 0 }), rare };
  const episode: Episode = {
    world,
    admin,
    mood,
    chain,
    blocks: openBlocks(world, chain, mood),
    providers: openProviders(random, nodes),
    bus,
    shop,
    model,
    processes,
    operators: { dumped: undefined, isRecovering: false, sharedBlock: undefined },
    isWild: false,
    hasBegun: false,
    failure: undefined,
    isOver,
  };
  return { episode, logLines };
};

const envOf = (
  { kind: { chainId }, settings }: Way,
  nodes: readonly Provider[],
  folder: string,
): Stage["env"] => {
  const chainsFile = join(folder, "chains.json");
  writeFileSync(chainsFile, JSON.stringify({ [chainId]: settings }));
  return {
    "links-api": { SETTLEMENT_CHAINS: chainId },
    "settlement-listener": {
      SETTLEMENT_PROVIDER_SECRETS: `${acme.name}=${acme.secret}`,
      RPC_URLS: nodes.map(({ host }) => `${chainId}=http://${host}:8545`).join(","),
      CHAINS_FILE: chainsFile,
    },
    "webhook-dispatcher": {
      WEBHOOK_SECRET_KEYS: sealingKey,
      WEBHOOK_HOST_OVERRIDES: hostsOfReceivers
        .map((host) => `${host}=http://127.0.0.1:9`)
        .join(","),
      // The third attempt is made when all is calm again, so that no delivery fails for good.
      WEBHOOK_RETRY_SCHEDULE_SECONDS: "0,20,60,120,240,480",
    },
  };
};
