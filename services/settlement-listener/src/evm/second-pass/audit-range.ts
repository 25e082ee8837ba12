import { findBlock } from "../../store/chain-blocks.ts";
import { findSpan } from "../../store/read-spans.ts";
import { type Lead, saveAudited } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { ChainReader } from "../rpc/chain-reader.ts";
import { readAgain, commitMissed } from "./read-again.ts";

/**
 * Reads the next range of final blocks a second time and repairs what was missed (rule CHAIN-6).
 * Where there are two providers it is never the one that read it first; the mark waits for another.
 * Answers up to where it came.
 */
export const auditRange = async (
  watch: WatchContext,
  lead: Lead,
  { auditedTo, finalizedTo }: { auditedTo: number; finalizedTo: number },
): Promise<number> => {
  const { chain, log, metrics, witnesses } = watch;
  const { auditor, readTo } = await findAuditor(watch, auditedTo + 1);
  const toBlock = Math.min(finalizedTo, readTo, auditedTo + chain.settings.rangeBlocksMax);
  if (witnesses.length > 1 && (await holdsAnother(watch, auditor, toBlock))) {
    // The node is behind the others, or on another chain. It is asked again, and alarms for as long.
    metrics.differed(chain.id, "final_hash", 1);
    throw new Error(`chain ${chain.id}: the auditing provider holds another block ${toBlock}`);
  }
  const pass = await readAgain(watch, auditor, { fromBlock: auditedTo + 1, toBlock, finalizedTo });
  metrics.differed(chain.id, "missing", pass.missing.length);
  metrics.differed(chain.id, "surplus", pass.surplus.length);
  for (const { transactionHash, ordinal } of pass.surplus) {
    const line = { chain: chain.id, transaction: transactionHash, ordinal };
    log.error(line, "the second pass knows nothing of a payment that was settled");
  }
  await commitMissed(watch, lead, pass.missing, (tx) => saveAudited(tx, chain.id, pass.end));
  return pass.end;
};

/**
 * Who may audit from a block on, and up to where: another than its reader, who is known since it was
 * read. A lone provider audits itself: it may have been short of logs when the block was new to it.
 */
const findAuditor = async (
  { chain, pool, reader, readerExcept, witnesses }: WatchContext,
  fromBlock: number,
): Promise<{ auditor: ChainReader; readTo: number }> => {
  const span = await findSpan(pool, chain.id, fromBlock);
  const isKnown = span !== undefined && span.fromBlock <= fromBlock;
  // What was read before this was kept was most likely read by the provider that is asked first.
  const readBy = isKnown ? span.provider : witnesses[0]?.id;
  return {
    auditor: (readBy === undefined ? undefined : readerExcept(readBy)) ?? reader,
    readTo: isKnown ? span.toBlock : (span?.fromBlock ?? Infinity) - 1,
  };
};

/** Whether a reader holds another block than we do, or none, where we have stored one. */
const holdsAnother = async (
  { chain, pool }: WatchContext,
  reader: ChainReader,
  number: number,
): Promise<boolean> => {
  const stored = await findBlock(pool, chain.id, number);
  if (stored === undefined) return false;
  const [header] = await reader.readHeaders({ fromBlock: number, toBlock: number });
  return header?.hash !== stored.hash;
};
