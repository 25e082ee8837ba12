import type { Client } from "pg";
import type { Chain } from "../chain.ts";
import type { SchemaDump } from "../dump-schema.ts";
import type { Model } from "../model.ts";
import type { ServiceName } from "../replica.ts";
import type { Shop } from "../shop/shop.ts";
import type { SimBus } from "../sim-bus.ts";
import type { SimulatedWorld } from "../simulated-world.ts";
import type { BlockSchedule } from "./block-schedule.ts";
import type { FaultProfile } from "./fault-profile.ts";
import type { Processes } from "./processes.ts";
import type { ProviderSchedule } from "./provider-schedule.ts";

/** What operators know of what they did. */
type OperatorState = {
  /** What can be restored. */
  storedDump: { name: ServiceName; dump: SchemaDump } | undefined;
  /** Whether links-api was restored, and may lack what others have yet to tell it. */
  isRecovering: boolean;
  /** Whether settlement-listener was restored, and its payments must be republished once a minute has passed. */
  mustRepublish: boolean;
  /** The newest block that every deep fork has left, by its slot. */
  sharedBlock: number | undefined;
};

/** One episode: who takes part, and how far it is. */
export type Episode = {
  world: SimulatedWorld;
  admin: Client;
  faultProfile: FaultProfile;
  chain: Chain;
  blockSchedule: BlockSchedule;
  providerSchedule: ProviderSchedule;
  bus: SimBus;
  shop: Shop;
  model: Model;
  processes: Processes;
  operatorState: OperatorState;
  /** Whether what can fail does. */
  isInjectingFaults: boolean;
  /** Whether all were at rest once before anything went wrong. */
  hasStarted: boolean;
  /** What an errand's answer came to that must not be. */
  failure: unknown;
  /** Whether to end at once. */
  shouldStop: () => boolean;
};
