import { computeBlockLimits } from "../../domain/plan-scan.ts";
import { findBlock } from "../../store/chain-blocks.ts";
import { ChainMovedError, type WatchContext } from "../chain/watch-context.ts";
import { type ChainReader, ChainUnreachableError, type Verifier } from "../chain-reader.ts";

/** A provider that cannot read a range again now; another may. */
class VerifierError extends Error {
  override readonly name = "VerifierError";
}

/** Whether another provider may do what this one could not. */
export const isVerifierError = (error: unknown): boolean =>
  error instanceof VerifierError ||
  error instanceof ChainUnreachableError ||
  error instanceof ChainMovedError;

/**
 * Up to where a provider may read a range again: what is final by its own word, and on the chain that we
 * have stored. One that stands still, or behind, may stand on a fork of the range, in which it truly
 * finds nothing. Throws {@link VerifierError} where it may not read it at all.
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
      `chain ${chain.id}: block ${fromBlock} is not final to the provider that reads it again`,
    );
  }
  if (await hasDifferentBlock(watch, reader, auditLimit)) {
    // The node is on another chain. It is asked again, and alarms for as long.
    metrics.countAuditDifferences(chain.id, "final_hash", 1);
    throw new VerifierError(
      `chain ${chain.id}: the provider that reads again holds another block ${auditLimit}`,
    );
  }
  return auditLimit;
};

/** Whether a reader holds another block than we do, or none, where we have stored one. */
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
