import type { ChainSettings } from "../../watch/chain/chain-settings.ts";
import type { WatchedChain } from "../../watch/chain/watched-chain.ts";
import { coinbase } from "./verify-transaction.ts";

/**
 * A coinbase can be spent from the 100th block on top of its own, and a reorg of its block removes
 * it for good.
 */
const maturityBlocks = 100;

/**
 * Creates a function that returns how many blocks beyond the chain's policy a payment needs, by its
 * amount.
 */
export const createGetExtraConfirmations = ({
  finality,
  finalityByAmount = [],
}: Pick<ChainSettings, "finality" | "finalityByAmount">): NonNullable<
  WatchedChain["getExtraConfirmations"]
> => {
  const defaultBlocks = typeof finality === "object" ? finality.blocks : 0;
  return ({ amount, sender }) => {
    const blocksByAmount = finalityByAmount.map(({ from, blocks }) =>
      amount.greaterThanOrEqualTo(from) ? blocks : 0,
    );
    const coinbaseBlocks = sender === coinbase ? maturityBlocks : 0;
    return Math.max(defaultBlocks, coinbaseBlocks, ...blocksByAmount) - defaultBlocks;
  };
};
