import type { PaymentLinkState } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import type { ChainOverride } from "../watch/chain/chain-settings.ts";
import { type BitcoinChain, openBitcoinChain } from "./bitcoin/open-bitcoin-chain.ts";
import { freshBitcoinAddress } from "./bitcoin/fresh-address.ts";
import { openWatchRig } from "./open-watch-rig.ts";

/** In the smallest unit. */
export const coin = 100_000_000n;

/** A local Bitcoin, as a rig watches it. */
export const openWatchedBitcoin = async (program: string) => {
  const chain = await openBitcoinChain({ program });
  return { ...chain, headNumber: chain.height };
};
export type WatchedBitcoin = BitcoinChain & { headNumber: () => Promise<number> };

/** The service that watches a local Bitcoin, and links that it has heard of. */
export const openBitcoinWatchRig = async (
  chain: WatchedBitcoin,
  override: ChainOverride = {},
  urls: readonly string[] = [chain.url],
) => {
  const rig = await openWatchRig(chain, override, urls);
  const sampleLink = (change: Partial<PaymentLinkState> = {}): PaymentLinkState =>
    rig.sampleLink({ destinationAddress: freshBitcoinAddress(), ...change });
  return {
    ...rig,
    sampleLink,
    hearNew: async (change: Partial<PaymentLinkState> = {}): Promise<PaymentLinkState> => {
      const link = sampleLink(change);
      await rig.hear(link);
      return link;
    },
    /** What was told of a link's payments: its status, amount, and block if it stands in one. */
    statuses: (linkId: string) =>
      rig.told(linkId).map(({ status, amount }) => `${status} ${amount}`),
    waitTold: (linkId: string, count: number) =>
      waitUntil("it is told", () => rig.told(linkId).length >= count),
    waitStatus: (linkId: string, status: string) =>
      waitUntil(`it is ${status}`, () => rig.told(linkId).at(-1)?.status === status),
  };
};
export type BitcoinWatchRig = Awaited<ReturnType<typeof openBitcoinWatchRig>>;

/** What pays a link. */
export const payeeOf = ({ destinationAddress: to }: PaymentLinkState, amount: bigint = 1_000n) => ({
  to,
  amount,
});
