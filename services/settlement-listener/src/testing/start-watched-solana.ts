import { type PaymentLinkState, deriveSolanaReference } from "@payment-links/contracts";
import { type SolanaOrder, freshAddress, startSolanaChain } from "./solana/start-solana-chain.ts";

/** Blocks between what is seen and what settles. */
export const finalizedLag = 4;

/** A local Solana on which what is mined is confirmed at once, and each link has an owner of its own. */
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

/** What a payer of a link pays: two and a half dollars if not said otherwise. */
export const createOrder = (
  { destinationAddress, paymentReference }: PaymentLinkState,
  overrides: Partial<SolanaOrder> = {},
): SolanaOrder => ({
  to: destinationAddress,
  amount: 2_500_000n,
  references: [deriveSolanaReference(paymentReference)],
  ...overrides,
});
