import type { Hex } from "viem";
import { type CatalogueToken, Decimal, smallestDeposit } from "@payment-links/contracts";
import type { ChainSettings } from "../../watch/chain/chain-settings.ts";
import { type Owners, noOwners } from "../../watch/chain/owners.ts";
import { depositMinimumsOf } from "../deposit-minimums.ts";
import type { EvmChain } from "./evm-chain.ts";
import { type Payees, openPayees } from "./reads/payees.ts";
import type { WatchedDeposits } from "./reads/read-logs.ts";

/**
 * How deposits are looked for on a chain whose nodes speak as EVM's: to nobody where that is off. Throws
 * ConfigError where a minimum is set of what is no token of the chain.
 */
export const watchDeposits = (
  chain: Pick<EvmChain, "id" | "tokens">,
  settings: ChainSettings,
  /** An owner's address in the family's form, as 20 bytes; undefined for what is none. */
  addressOf: (address: string) => Hex | undefined,
): {
  depositMinimums: Readonly<Record<string, Decimal>>;
  open: (owners: Owners) => WatchedDeposits & { payees: Payees };
} => {
  const depositMinimums = depositMinimumsOf(chain.id, [...chain.tokens.values()], settings);
  return {
    depositMinimums,
    open: (owners) => ({
      tokens: [...chain.tokens].map(([address, token]) => ({
        address: address as Hex,
        minimum: leastOf(token, depositMinimums),
      })),
      payees: openPayees(settings.findsDeposits === true ? owners : noOwners, addressOf),
    }),
  };
};

/**
 * The least base units, rounded up, of a token's transfers that are read: what makes a deposit or, as a
 * payment is no dust, what may name its link by a suffix.
 */
const leastOf = (token: CatalogueToken, minimums: Readonly<Record<string, Decimal>>): bigint => {
  const { address, decimals, takesSuffix } = token;
  const set = minimums[address] ?? smallestDeposit(token);
  const least = takesSuffix === undefined ? set : Decimal.min(set, smallestDeposit(token));
  return BigInt(least.times(new Decimal(10).pow(decimals)).ceil().toFixed());
};
