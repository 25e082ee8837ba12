import { type Lead, saveAudited } from "../../store/watchers.ts";
import { holdsFinal } from "../chain/holds-final.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { ChainReader } from "../rpc/chain-reader.ts";
import { readAgain, commitMissed } from "./read-again.ts";

/**
 * Reads the next range of final blocks a second time and repairs what was missed (rule CHAIN-6).
 */
export const auditRange = async (
  watch: WatchContext,
  lead: Lead,
  { auditedTo, finalizedTo }: { auditedTo: number; finalizedTo: number },
): Promise<void> => {
  const { auditor, chain, log, metrics, reader } = watch;
  const toBlock = Math.min(finalizedTo, auditedTo + chain.settings.rangeBlocksMax);
  const isOther = async (other: ChainReader) => !(await holdsFinal(watch, other, finalizedTo));
  if (toBlock === finalizedTo && auditor !== undefined && (await isOther(auditor))) {
    // The node is behind the others, or on another chain. It is asked again, and alarms for as long.
    metrics.differed(chain.id, "final_hash", 1);
    throw new Error(`chain ${chain.id}: the second provider holds another block ${finalizedTo}`);
  }
  const range = { fromBlock: auditedTo + 1, toBlock, finalizedTo };
  // A lone provider may still have been short of logs when the block was new to it.
  const pass = await readAgain(watch, auditor ?? reader, range);
  metrics.differed(chain.id, "missing", pass.missing.length);
  metrics.differed(chain.id, "surplus", pass.surplus.length);
  for (const { transactionHash, ordinal } of pass.surplus) {
    const line = { chain: chain.id, transaction: transactionHash, ordinal };
    log.error(line, "the second pass knows nothing of a payment that was settled");
  }
  await commitMissed(watch, lead, pass.missing, (tx) => saveAudited(tx, chain.id, pass.end));
};
