import type { Heads } from "../domain/plan-scan.ts";
import type { ReaderContext } from "./create-chain-readers.ts";
import type { Provider } from "./provider.ts";

/**
 * Reads the chain's heads. If the head is lower than one reported before, asks another provider and
 * uses the higher head. If no other provider is ahead, the chain has become shorter.
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
