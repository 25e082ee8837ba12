import { computeBlockLimits } from "../../domain/plan-scan.ts";
import { findBlock } from "../../store/chain-blocks.ts";
import { ChainMovedError, type WatchContext } from "../chain/watch-context.ts";
import {
  type ChainReader,
  ChainUnreachableError,
  type Verifier,
} from "@payment-links/chains/chain-reader";

/** This provider cannot reread the range now, but another one may be able to. */
class VerifierError extends Error {
  override readonly name = "VerifierError";
}

/** Returns whether to try another provider after this error. */
export const isVerifierError = (error: unknown): boolean =>
  error instanceof VerifierError ||
  error instanceof ChainUnreachableError ||
  error instanceof ChainMovedError;

/**
 * Returns the last block up to which a provider can reread a range. The block must be final by the
 * provider's own heads and have the stored hash. Otherwise a provider that lags or is on a fork
 * could correctly find nothing there. Throws {@link VerifierError} if the provider cannot reread
 * the range at all.
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
    // The node is on another fork. Every retry counts a difference, so the alert stays active until
    // the node returns.
    metrics.countAuditDifferences(chain.id, "final_hash", 1);
    throw new VerifierError(
      `chain ${chain.id}: the auditing provider has a different block ${auditLimit}`,
    );
  }
  return auditLimit;
};

/**
 * Returns whether a block is stored at a number and the reader has a different block there, or
 * none.
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
