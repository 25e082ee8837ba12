import type { PaymentLinkState } from "@payment-links/contracts";
import { freshBitcoinAddress } from "./bitcoin/fresh-address.ts";
import { type LocalBitcoinChain, startBitcoinChain } from "./bitcoin/start-bitcoin-chain.ts";
import type { WatchableChain } from "./create-watch-rig.ts";

/** In the smallest unit. */
export const satoshisPerBitcoin = 100_000_000n;

/** A local Bitcoin, as a rig watches it: each link has an address of its own. */
export const startWatchedBitcoin = async (program: string): Promise<WatchedBitcoin> => {
  const chain = await startBitcoinChain({ program });
  const sampleLink = () => ({ destinationAddress: freshBitcoinAddress() });
  return { ...chain, readHeadNumber: chain.readHeight, sampleLink };
};
export type WatchedBitcoin = LocalBitcoinChain & WatchableChain;

/** What pays a link. */
export const toPayee = ({ destinationAddress: to }: PaymentLinkState, amount: bigint = 1_000n) => ({
  to,
  amount,
});
