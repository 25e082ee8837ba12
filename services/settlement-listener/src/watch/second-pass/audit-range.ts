import { drawLines } from "../../domain/plan-scan.ts";
import { findBlock } from "../../store/chain-blocks.ts";
import { findSpan } from "../../store/read-spans.ts";
import { type Lead, saveAudited } from "../../store/watchers.ts";
import { ChainMovedError, type WatchContext } from "../chain/watch-context.ts";
import { type ChainReader, ChainUnreachableError, type Witness } from "../chain-reader.ts";
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
      if (!isOfAuditor(error)) throw error;
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

/** A provider that cannot audit a range now; another may. */
class AuditorError extends Error {
  override readonly name = "AuditorError";
}

const isOfAuditor = (error: unknown): boolean =>
  error instanceof AuditorError ||
  error instanceof ChainUnreachableError ||
  error instanceof ChainMovedError;

/**
 * Up to where a provider may audit a range: what is final by its own word, and on the chain that we
 * have stored. One that stands still, or behind, may stand on a fork of the range, in which it truly
 * finds nothing. Throws {@link AuditorError} where it may not audit at all.
 */
const findReach = async (
  watch: WatchContext,
  { reader }: Witness,
  { fromBlock, toBlock }: Range,
): Promise<number> => {
  const { chain, metrics } = watch;
  const { final } = drawLines(await reader.readHeads(), chain.settings);
  const reach = Math.min(toBlock, final);
  if (reach < fromBlock) {
    throw new AuditorError(
      `chain ${chain.id}: block ${fromBlock} is not final to the auditing provider`,
    );
  }
  if (await holdsAnother(watch, reader, reach)) {
    // The node is on another chain. It is asked again, and alarms for as long.
    metrics.differed(chain.id, "final_hash", 1);
    throw new AuditorError(`chain ${chain.id}: the auditing provider holds another block ${reach}`);
  }
  return reach;
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
