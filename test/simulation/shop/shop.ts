import type { Chain } from "../chain.ts";
import type { ChainKind } from "../chain-kinds.ts";
import type { Model } from "../model.ts";
import type { SimulatedWorld } from "../simulated-world.ts";
import { type Accounts, createAccounts } from "./accounts.ts";
import type { PendingRequest } from "./pending-requests.ts";

/** All who are outside: shops, their payers, a payment provider, and the receivers of webhooks. */
export type Shop = {
  world: SimulatedWorld;
  model: Model;
  chain: Chain;
  kind: ChainKind;
  /** The least units of a token that show as a deposit; undefined where none are looked for. */
  depositBaseUnitsMin: number | undefined;
  accounts: Accounts;
  /** What is wanted of the services, and not answered yet. */
  pendingRequests: PendingRequest[];
  /** Addresses that are known to be owners'. */
  knownOwnerAddresses: Set<string>;
  /** Transactions that the listener knew before the order that is placed next. */
  knownTransactionHashes: Set<string>;
  orderCount: number;
  /** How often each webhook was refused. */
  rejectionCounts: Map<string, number>;
  /** Whether every receiver answers. */
  areReceiversReliable: boolean;
};

export const createShop = (
  options: Pick<Shop, "world" | "model" | "chain" | "kind" | "depositBaseUnitsMin">,
): Shop => ({
  ...options,
  accounts: createAccounts(options.kind),
  pendingRequests: [],
  knownOwnerAddresses: new Set(),
  knownTransactionHashes: new Set(),
  orderCount: 0,
  rejectionCounts: new Map(),
  areReceiversReliable: false,
});
