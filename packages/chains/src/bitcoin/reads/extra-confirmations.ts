import type { ChainSettings } from "../../reads/chain-settings.ts";
import type { WatchedChain } from "../../reads/watched-chain.ts";
import { coinbase } from "./verify-transaction.ts";

/**
 * A coinbase output cannot be spent until there are 100 blocks on top of it. If a reorg removes its
 * block, the coinbase transaction can never be mined again.
 */
const maturityBlocks = 100;

/**
 * Creates a function that returns how many blocks a payment needs in addition to the chain's
 * `finality` setting. This depends on the amount and on whether the payment is a coinbase.
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
