import type { Heads } from "../domain/plan-scan.ts";
import type { ReaderContext } from "./create-chain-readers.ts";
import type { Provider } from "./provider.ts";

/**
 * Reads how far the chain is, as a family asks its nodes. A head lower than one reported before is
 * compared with another provider's, and the further one is believed; if no other is ahead, the chain
 * has gone back.
 */
export const readFurthestHeads =
  (
    {
      chainId,
      highestHead,
      metrics,
      failover,
    }: Pick<ReaderContext, "chainId" | "highestHead" | "metrics" | "failover">,
    fetchHeads: (provider: Provider) => Promise<Heads>,
  ): (() => Promise<Heads>) =>
  async () => {
    const firstResult = await failover.run("the heads", async (provider) => ({
      provider,
      heads: await fetchHeads(provider),
    }));
    let { heads } = firstResult;
    if (heads.latest < highestHead.latest) {
      metrics.countDisagreement(chainId, "backward_head");
      const otherHeads = await failover.runOnOther(firstResult.provider, fetchHeads);
      if (otherHeads !== undefined && otherHeads.latest > heads.latest) heads = otherHeads;
    }
    highestHead.latest = heads.latest;
    return heads;
  };
