import type { Heads } from "../domain/plan-scan.ts";
import type { ReaderGround } from "./open-chain-readers.ts";
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
      memory,
      metrics,
      turn,
    }: Pick<ReaderGround, "chainId" | "memory" | "metrics" | "turn">,
    askHeads: (provider: Provider) => Promise<Heads>,
  ): (() => Promise<Heads>) =>
  async () => {
    const first = await turn.ask("the heads", async (provider) => ({
      provider,
      heads: await askHeads(provider),
    }));
    let { heads } = first;
    if (heads.latest < memory.latest) {
      metrics.disagreed(chainId, "backward_head");
      const other = await turn.askOther(first.provider, askHeads);
      if (other !== undefined && other.latest > heads.latest) heads = other;
    }
    memory.latest = heads.latest;
    return heads;
  };
