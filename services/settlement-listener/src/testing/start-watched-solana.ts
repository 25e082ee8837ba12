import { deriveSolanaReference } from "@payment-links/chains";
import type { PaymentLinkState } from "@payment-links/contracts";
import {
  type SolanaOrder,
  freshAddress,
  startSolanaChain,
} from "@payment-links/local-chains/solana/start-solana-chain";

/** The number of blocks between a confirmed and a finalized block. */
export const finalizedLag = 4;

/**
 * Starts a local Solana chain for a watch rig. Blocks are confirmed immediately, and each link gets
 * its own owner.
 */
export const startWatchedSolana = async () => {
  const chain = await startSolanaChain({ confirmedLag: 0, finalizedLag });
  const tokenAddress = chain.tokens.get("usdc")?.mint ?? "";
  return {
    ...chain,
    chainId: "local-solana",
    readHeadNumber: () => Promise.resolve(chain.getHeadSlot()),
    sampleLink: () => ({ tokenAddress, destinationAddress: freshAddress() }),
  };
};
export type WatchedSolana = Awaited<ReturnType<typeof startWatchedSolana>>;

/** Creates an order that pays a link. The default amount is 2.5 USDC. */
export const createOrder = (
  { destinationAddress, paymentReference }: PaymentLinkState,
  overrides: Partial<SolanaOrder> = {},
): SolanaOrder => ({
  to: destinationAddress,
  amount: 2_500_000n,
  references: [deriveSolanaReference(paymentReference)],
  ...overrides,
});
