import type { Client } from "pg";
import type { Chain } from "../chain.ts";
import type { SchemaCopy } from "../../rig/copy-schema.ts";
import type { Model } from "../model.ts";
import type { ServiceName } from "../replica.ts";
import type { Shop } from "../shop/shop.ts";
import type { SimBus } from "../sim-bus.ts";
import type { SimulatedWorld } from "../simulated-world.ts";
import type { BlockSchedule } from "./block-schedule.ts";
import type { FaultProfile } from "./fault-profile.ts";
import type { Processes } from "./processes.ts";
import type { ProviderSchedule } from "./provider-schedule.ts";

/** What the operators know about their own actions. */
type OperatorState = {
  /** The dump that can be restored. */
  storedDump: { name: ServiceName; dump: SchemaCopy } | undefined;
  /**
   * Whether links-api was restored and can still lack events that other services will republish.
   */
  isRecovering: boolean;
  /**
   * Whether settlement-listener was restored. Its payments must then be republished one minute
   * later.
   */
  mustRepublish: boolean;
  /** The slot of the newest block that no deep fork has orphaned. */
  sharedBlock: number | undefined;
};

/** An episode: its participants and its progress. */
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
  isInjectingFaults: boolean;
  /** Whether all work was done once before the first fault. */
  hasStarted: boolean;
  /** The first violation found in a response to a request. */
  failure: unknown;
  /** Whether to stop immediately. */
  shouldStop: () => boolean;
};
