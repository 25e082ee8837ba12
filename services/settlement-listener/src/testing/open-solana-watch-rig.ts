import type { PaymentLinkState } from "@payment-links/contracts";
import { solanaReference } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import type { ChainOverride } from "../watch/chain/chain-settings.ts";
import { openWatchRig } from "./open-watch-rig.ts";
import { type SolanaOrder, freshAddress, openSolanaChain } from "./solana/open-solana-chain.ts";

/** Blocks between what is seen and what settles. */
export const finalizedLag = 4;

/** A local Solana on which what is mined is confirmed at once. */
export const openWatchedSolana = async () => {
  const chain = await openSolanaChain({ confirmedLag: 0, finalizedLag });
  return {
    ...chain,
    chainId: "local-solana",
    headNumber: () => Promise.resolve(chain.head()),
  };
};
export type WatchedSolana = Awaited<ReturnType<typeof openWatchedSolana>>;

/** The service that watches a local Solana, and a link of a fresh owner that it has heard of. */
export const openSolanaWatchRig = async (
  chain: WatchedSolana,
  override: ChainOverride = {},
  urls: readonly string[] = [chain.url],
) => {
  const rig = await openWatchRig(chain, override, urls);
  const usdc = chain.tokens.get("usdc")?.mint ?? "";
  const sampleLink = (change: Partial<PaymentLinkState> = {}): PaymentLinkState =>
    rig.sampleLink({ tokenAddress: usdc, destinationAddress: freshAddress(), ...change });
  return {
    ...rig,
    sampleLink,
    hearNew: async (change: Partial<PaymentLinkState> = {}): Promise<PaymentLinkState> => {
      const link = sampleLink(change);
      await rig.hear(link);
      return link;
    },
    statuses: (linkId: string) =>
      rig.told(linkId).map(({ status, amount }) => `${status} ${amount}`),
    waitTold: (linkId: string, count: number) =>
      waitUntil("it is told", () => rig.told(linkId).length === count),
  };
};
export type SolanaWatchRig = Awaited<ReturnType<typeof openSolanaWatchRig>>;

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
