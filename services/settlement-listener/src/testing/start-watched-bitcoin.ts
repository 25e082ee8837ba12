import type { PaymentLinkState } from "@payment-links/contracts";
import { freshBitcoinAddress } from "@payment-links/local-chains/bitcoin/fresh-address";
import {
  type LocalBitcoinChain,
  startBitcoinChain,
} from "@payment-links/local-chains/bitcoin/start-bitcoin-chain";
import type { WatchableChain } from "./create-watch-rig.ts";

export const satoshisPerBitcoin = 100_000_000n;

/** Starts a local Bitcoin chain for a watch rig. Each link gets its own address. */
export const startWatchedBitcoin = async (program: string): Promise<WatchedBitcoin> => {
  const chain = await startBitcoinChain({ program });
  const sampleLink = () => ({ destinationAddress: freshBitcoinAddress() });
  return { ...chain, readHeadNumber: chain.readHeight, sampleLink };
};
export type WatchedBitcoin = LocalBitcoinChain & WatchableChain;

/** Returns the payee and amount that pay a link. */
export const toPayee = ({ destinationAddress: to }: PaymentLinkState, amount: bigint = 1_000n) => ({
  to,
  amount,
});
