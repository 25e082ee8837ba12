import type { Hex } from "viem";
import { type CatalogueToken, Decimal, getSmallestDeposit } from "@payment-links/contracts";
import type { ChainSettings } from "../../watch/chain/chain-settings.ts";
import { type Owners, noOwners } from "../../watch/chain/owners.ts";
import { resolveDepositMinimums } from "../deposit-minimums.ts";
import type { EvmChain } from "./evm-chain.ts";
import { type Payees, createPayees } from "./reads/payees.ts";
import type { WatchedDeposits } from "./reads/read-logs.ts";

/**
 * How deposits are looked for on a chain whose nodes speak as EVM's: to nobody where that is off. Throws
 * ConfigError where a minimum is set of what is no token of the chain.
 */
export const createDepositWatch = (
  chain: Pick<EvmChain, "id" | "tokens">,
  settings: ChainSettings,
  /** An owner's address in the family's form, as 20 bytes; undefined for what is none. */
  toHexAddress: (address: string) => Hex | undefined,
): {
  depositMinimums: Readonly<Record<string, Decimal>>;
  createWatchedDeposits: (owners: Owners) => WatchedDeposits & { payees: Payees };
} => {
  const depositMinimums = resolveDepositMinimums(chain.id, [...chain.tokens.values()], settings);
  return {
    depositMinimums,
    createWatchedDeposits: (owners) => ({
      tokens: [...chain.tokens].map(([address, token]) => ({
        address: address as Hex,
        minimum: computeMinimum(token, depositMinimums),
      })),
      payees: createPayees(settings.findsDeposits === true ? owners : noOwners, toHexAddress),
    }),
  };
};

/**
 * The least base units, rounded up, of a token's transfers that are read: what makes a deposit or, as a
 * payment is no dust, what may name its link by a suffix.
 */
const computeMinimum = (
  token: CatalogueToken,
  minimums: Readonly<Record<string, Decimal>>,
): bigint => {
  const { address, decimals, takesSuffix } = token;
  const configuredMinimum = minimums[address] ?? getSmallestDeposit(token);
  const minimum =
    takesSuffix === undefined
      ? configuredMinimum
      : Decimal.min(configuredMinimum, getSmallestDeposit(token));
  return BigInt(minimum.times(new Decimal(10).pow(decimals)).ceil().toFixed());
};
