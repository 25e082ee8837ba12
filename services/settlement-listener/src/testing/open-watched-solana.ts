import { type PaymentLinkState, solanaReference } from "@payment-links/contracts";
import { type SolanaOrder, freshAddress, openSolanaChain } from "./solana/open-solana-chain.ts";

/** Blocks between what is seen and what settles. */
export const finalizedLag = 4;

/** A local Solana on which what is mined is confirmed at once, and each link has an owner of its own. */
export const openWatchedSolana = async () => {
  const chain = await openSolanaChain({ confirmedLag: 0, finalizedLag });
  const tokenAddress = chain.tokens.get("usdc")?.mint ?? "";
  return {
    ...chain,
    chainId: "local-solana",
    headNumber: () => Promise.resolve(chain.head()),
    sampleLink: () => ({ tokenAddress, destinationAddress: freshAddress() }),
  };
};
export type WatchedSolana = Awaited<ReturnType<typeof openWatchedSolana>>;

/** What a payer of a link pays: two and a half dollars if not said otherwise. */
export const orderOf = (
  { destinationAddress, paymentReference }: PaymentLinkState,
  change: Partial<SolanaOrder> = {},
): SolanaOrder => ({
  to: destinationAddress,
  amount: 2_500_000n,
  references: [solanaReference(paymentReference)],
  ...change,
});
