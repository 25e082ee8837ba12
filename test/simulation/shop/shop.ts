import type { Chain } from "../chain.ts";
import type { ChainKind } from "../chain-kinds.ts";
import type { Model } from "../model.ts";
import type { World } from "../world.ts";
import { type Accounts, openAccounts } from "./accounts.ts";
import type { Errand } from "./errands.ts";

/** All who are outside: shops, their payers, a payment provider, and the receivers of webhooks. */
export type Shop = {
  world: World;
  model: Model;
  chain: Chain;
  kind: ChainKind;
  /** The least units of a token that show as a deposit; undefined where none are looked for. */
  depositUnitsMin: number | undefined;
  accounts: Accounts;
  /** What is wanted of the services, and not answered yet. */
  errands: Errand[];
  /** Addresses that are known to be owners'. */
  heardOwners: Set<string>;
  /** Transactions that the listener knew before the order that is placed next. */
  knownHashes: Set<string>;
  orderCount: number;
  /** How often each webhook was refused. */
  refusals: Map<string, number>;
  /** Whether every receiver answers. */
  isCalm: boolean;
};

export const openShop = (
  outside: Pick<Shop, "world" | "model" | "chain" | "kind" | "depositUnitsMin">,
): Shop => ({
  ...outside,
  accounts: openAccounts(outside.kind),
  errands: [],
  heardOwners: new Set(),
  knownHashes: new Set(),
  orderCount: 0,
  refusals: new Map(),
  isCalm: false,
});
