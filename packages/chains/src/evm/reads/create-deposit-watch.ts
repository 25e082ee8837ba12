import type { Hex } from "viem";
import { type CatalogueToken, Decimal, getSmallestDeposit } from "@payment-links/contracts";
import type { ChainSettings } from "../../reads/chain-settings.ts";
import { type Owners, noOwners } from "../../reads/watched-chain.ts";
import { resolveDepositMinimums } from "../../reads/deposit-minimums.ts";
import type { EvmChain } from "./evm-chain.ts";
import { createPayees } from "./payees.ts";
import type { WatchedDeposits } from "./read-logs.ts";

/**
 * Creates the deposit watch of a chain whose nodes use the EVM protocol. Without `findsDeposits`,
 * it watches no owners. Throws `ConfigError` if a minimum is set for a token that the chain does
 * not have.
 */
export const createDepositWatch = (
  chain: Pick<EvmChain, "id" | "tokens">,
  settings: ChainSettings,
  /**
   * Converts an owner's address from the family's format to its 20 bytes in hex. Returns undefined
   * for an invalid address.
   */
  toHexAddress: (address: string) => Hex | undefined,
): {
  depositMinimums: Readonly<Record<string, Decimal>>;
  createWatchedDeposits: (owners: Owners) => WatchedDeposits;
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
 * Returns the amount, in base units rounded up, below which transfers of a token are not read. This
 * is the deposit minimum. If the token takes suffixes, it is at most `getSmallestDeposit`, because
 * a transfer of that amount can identify its link by a suffix.
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
