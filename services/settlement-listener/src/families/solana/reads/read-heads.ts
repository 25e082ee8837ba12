import type { Heads } from "../../../domain/plan-scan.ts";
import type { RpcRequest } from "../../../rpc/json-rpc.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { readFurthestHeads } from "../../../rpc/read-furthest-heads.ts";
import type { ChainReader } from "../../../watch/chain-reader.ts";
import { parseCount } from "../rpc-results.ts";

/**
 * Creates the read of the heads. Payments in `confirmed` blocks can be reported, and payments in
 * `finalized` blocks settle.
 */
export const createReadHeads = (
  context: Parameters<typeof readFurthestHeads>[0],
): ChainReader["readHeads"] => readFurthestHeads(context, fetchHeads);

const fetchHeads = async (provider: Provider): Promise<Heads> => {
  const [finalized, latest] = await provider.request([
    createSlotRequest("finalized"),
    createSlotRequest("confirmed"),
  ]);
  return { latest, safe: null, finalized: Math.min(finalized, latest) };
};

const createSlotRequest = (commitment: "confirmed" | "finalized"): RpcRequest<number> => ({
  method: "getSlot",
  params: [{ commitment }],
  parseResult: parseCount,
});
