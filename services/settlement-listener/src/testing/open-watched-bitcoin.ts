import type { PaymentLinkState } from "@payment-links/contracts";
import { freshBitcoinAddress } from "./bitcoin/fresh-address.ts";
import { type BitcoinChain, openBitcoinChain } from "./bitcoin/open-bitcoin-chain.ts";
import type { WatchedChain } from "./open-watch-rig.ts";

/** In the smallest unit. */
export const coin = 100_000_000n;

/** A local Bitcoin, as a rig watches it: each link has an address of its own. */
export const openWatchedBitcoin = async (program: string): Promise<WatchedBitcoin> => {
  const chain = await openBitcoinChain({ program });
  const sampleLink = () => ({ destinationAddress: freshBitcoinAddress() });
  return { ...chain, headNumber: chain.height, sampleLink };
};
export type WatchedBitcoin = BitcoinChain & WatchedChain;

/** What pays a link. */
export const payeeOf = ({ destinationAddress: to }: PaymentLinkState, amount: bigint = 1_000n) => ({
  to,
  amount,
});
