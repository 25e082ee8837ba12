import type { Chain } from "../chain.ts";
import type { ChainKind } from "../chain-kinds.ts";
import type { Model } from "../model.ts";
import type { SimulatedWorld } from "../simulated-world.ts";
import { type Accounts, createAccounts } from "./accounts.ts";
import type { PendingRequest } from "./pending-requests.ts";

/** The external parties: shops, their payers, a payment provider, and webhook receivers. */
export type Shop = {
  world: SimulatedWorld;
  model: Model;
  chain: Chain;
  kind: ChainKind;
  /** The minimum base units of a deposit. Undefined if deposits are not watched. */
  depositBaseUnitsMin: number | undefined;
  accounts: Accounts;
  /** Requests to the services that are not completed yet. */
  pendingRequests: PendingRequest[];
  /** Addresses that the listener knows to belong to owners. */
  knownOwnerAddresses: Set<string>;
  /** Transactions that the listener knew before the next order is placed. */
  knownTransactionHashes: Set<string>;
  orderCount: number;
  /** The number of times that each webhook was rejected. */
  rejectionCounts: Map<string, number>;
  /** Whether every receiver responds. */
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
