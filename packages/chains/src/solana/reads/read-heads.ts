import type { Heads } from "../../reads/chain-reader.ts";
import type { RpcRequest } from "../../rpc/json-rpc.ts";
import type { Provider } from "../../rpc/provider.ts";
import { parseCount } from "./rpc-results.ts";

/** Payments in `confirmed` blocks can be reported, and payments in `finalized` blocks settle. */
export const fetchHeads = async (provider: Provider): Promise<Heads> => {
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
