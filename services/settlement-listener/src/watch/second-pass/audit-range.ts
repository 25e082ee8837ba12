import { findSpan } from "../../store/read-spans.ts";
import { type Lead, saveAudited } from "../../store/watchers.ts";
import type { WatchContext } from "../chain/watch-context.ts";
import type { ChainReader } from "../chain-reader.ts";
import { findReach, isOfWitness } from "./find-reach.ts";
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
  const { chain, reader, witnesses } = watch;
  const fromBlock = auditedTo + 1;
  const { readBy, readTo } = await findFirstReader(watch, fromBlock);
  const toBlock = Math.min(finalizedTo, readTo, auditedTo + chain.settings.rangeBlocksMax);
  const range = { fromBlock, toBlock, finalizedTo };
  // A lone provider may have been short of logs when the range was new to it.
  if (witnesses.length === 1) return auditBy(watch, lead, reader, range);
  let fault: unknown;
  for (const auditor of witnesses.filter(({ id }) => id !== readBy)) {
    try {
      const reach = await findReach(watch, auditor, range);
      return await auditBy(watch, lead, auditor.reader, { ...range, toBlock: reach });
    } catch (error) {
      if (!isOfWitness(error)) throw error;
      fault ??= error;
    }
  }
  throw fault;
};

type Range = { fromBlock: number; toBlock: number; finalizedTo: number };

const auditBy = async (
  watch: WatchContext,
  lead: Lead,
  auditor: ChainReader,
  range: Range,
): Promise<number> => {
  const { chain, log, metrics } = watch;
  const pass = await readAgain(watch, auditor, range);
  metrics.differed(chain.id, "missing", pass.missing.length);
  metrics.differed(chain.id, "surplus", pass.surplus.length);
  for (const { transactionHash, ordinal } of pass.surplus) {
    const line = { chain: chain.id, transaction: transactionHash, ordinal };
    log.error(line, "the second pass knows nothing of a payment that was settled");
  }
  await commitMissed(watch, lead, pass.missing, (tx) => saveAudited(tx, chain.id, pass.end));
  return pass.end;
};

/** Who read from a block on first, and up to where. */
const findFirstReader = async (
  { chain, pool, witnesses }: WatchContext,
  fromBlock: number,
): Promise<{ readBy: string | undefined; readTo: number }> => {
  const span = await findSpan(pool, chain.id, fromBlock);
  if (span !== undefined && span.fromBlock <= fromBlock) {
    return { readBy: span.provider, readTo: span.toBlock };
  }
  // What was read before this was kept was most likely read by the provider that is asked first.
  return { readBy: witnesses[0]?.id, readTo: (span?.fromBlock ?? Infinity) - 1 };
};
