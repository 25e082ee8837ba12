import type { Client } from "pg";
import type { Chain } from "../chain.ts";
import type { Dump } from "../dumps.ts";
import type { Model } from "../model.ts";
import type { ServiceName } from "../replica.ts";
import type { Shop } from "../shop/shop.ts";
import type { SimBus } from "../sim-bus.ts";
import type { World } from "../world.ts";
import type { Blocks } from "./blocks.ts";
import type { Mood } from "./mood.ts";
import type { Processes } from "./processes.ts";
import type { Providers } from "./providers.ts";

/** What operators know of what they did. */
type Operators = {
  /** What can be restored. */
  dumped: { name: ServiceName; dump: Dump } | undefined;
  /** Whether links-api was restored, and may lack what others have yet to tell it. */
  isRecovering: boolean;
  /** The newest block that every deep fork has left, by its slot. */
  sharedBlock: number | undefined;
};

/** One episode: who takes part, and how far it is. */
export type Episode = {
  world: World;
  admin: Client;
  mood: Mood;
  chain: Chain;
  blocks: Blocks;
  providers: Providers;
  bus: SimBus;
  shop: Shop;
  model: Model;
  processes: Processes;
  operators: Operators;
  /** Whether what can fail does. */
  isWild: boolean;
  /** Whether all were at rest once before anything went wrong. */
  hasBegun: boolean;
  /** What an errand's answer came to that must not be. */
  failure: unknown;
  /** Whether to end at once. */
  isOver: () => boolean;
};
