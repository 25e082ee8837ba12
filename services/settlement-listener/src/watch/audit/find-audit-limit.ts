import { computeBlockLimits } from "../../domain/plan-scan.ts";
import { findBlock } from "../../store/chain-blocks.ts";
import { ChainMovedError, type WatchContext } from "../chain/watch-context.ts";
import { type ChainReader, ChainUnreachableError, type Verifier } from "../chain-reader.ts";

/** A provider cannot reread a range now, but another one may. */
class VerifierError extends Error {
  override readonly name = "VerifierError";
}

/** Returns whether another provider may succeed where this one failed. */
export const isVerifierError = (error: unknown): boolean =>
  error instanceof VerifierError ||
  error instanceof ChainUnreachableError ||
  error instanceof ChainMovedError;

/**
 * Returns the last block up to which a provider may reread a range: final by its own heads, and on
 * the stored chain. A stalled or lagging provider may be on a fork of the range and correctly find
 * nothing there. Throws {@link VerifierError} if it may not read the range at all.
 */
export const findAuditLimit = async (
  watch: WatchContext,
  { reader }: Verifier,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Promise<number> => {
  const { chain, metrics } = watch;
  const { finalizedBlock } = computeBlockLimits(await reader.readHeads(), chain.settings);
  const auditLimit = Math.min(toBlock, finalizedBlock);
  if (auditLimit < fromBlock) {
    throw new VerifierError(
      `chain ${chain.id}: block ${fromBlock} is not final on the auditing provider`,
    );
  }
  if (await hasDifferentBlock(watch, reader, auditLimit)) {
    // The node is on another fork. It is asked again, and the alert stays active in the meantime.
    metrics.countAuditDifferences(chain.id, "final_hash", 1);
    throw new VerifierError(
      `chain ${chain.id}: the auditing provider has a different block ${auditLimit}`,
    );
  }
  return auditLimit;
};

/**
 * Returns whether a reader has a different block, or none, at a number for which a block is stored.
 */
const hasDifferentBlock = async (
  { chain, pool }: WatchContext,
  reader: ChainReader,
  number: number,
): Promise<boolean> => {
  const storedBlock = await findBlock(pool, chain.id, number);
  if (storedBlock === undefined) return false;
  const [header] = await reader.readHeaders({ fromBlock: number, toBlock: number });
  return header?.hash !== storedBlock.hash;
};
