import type { Heads } from "../../../domain/plan-scan.ts";
import type { Question } from "../../../rpc/json-rpc.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { readFurthestHeads } from "../../../rpc/read-furthest-heads.ts";
import type { ChainReader } from "../../../watch/chain-reader.ts";
import { readCount } from "../node-answers.ts";

/** Reads how far the chain is: what is confirmed may be seen, what is finalized settles. */
export const createReadHeads = (
  ground: Parameters<typeof readFurthestHeads>[0],
): ChainReader["readHeads"] => readFurthestHeads(ground, askHeads);

const askHeads = async (provider: Provider): Promise<Heads> => {
  const [finalized, latest] = await provider.ask([
    slotQuestion("finalized"),
    slotQuestion("confirmed"),
  ]);
  return { latest, safe: null, finalized: Math.min(finalized, latest) };
};

const slotQuestion = (commitment: "confirmed" | "finalized"): Question<number> => ({
  method: "getSlot",
  params: [{ commitment }],
  read: readCount,
});
