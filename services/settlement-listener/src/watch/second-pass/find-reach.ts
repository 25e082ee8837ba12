import { drawLines } from "../../domain/plan-scan.ts";
import { findBlock } from "../../store/chain-blocks.ts";
import { ChainMovedError, type WatchContext } from "../chain/watch-context.ts";
import { type ChainReader, ChainUnreachableError, type Witness } from "../chain-reader.ts";

/** A provider that cannot read a range again now; another may. */
class WitnessError extends Error {
  override readonly name = "WitnessError";
}

/** Whether another provider may do what this one could not. */
export const isOfWitness = (error: unknown): boolean =>
  error instanceof WitnessError ||
  error instanceof ChainUnreachableError ||
  error instanceof ChainMovedError;

/**
 * Up to where a provider may read a range again: what is final by its own word, and on the chain that we
 * have stored. One that stands still, or behind, may stand on a fork of the range, in which it truly
 * finds nothing. Throws {@link WitnessError} where it may not read it at all.
 */
export const findReach = async (
  watch: WatchContext,
  { reader }: Witness,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Promise<number> => {
  const { chain, metrics } = watch;
  const { final } = drawLines(await reader.readHeads(), chain.settings);
  const reach = Math.min(toBlock, final);
  if (reach < fromBlock) {
    throw new WitnessError(
      `chain ${chain.id}: block ${fromBlock} is not final to the provider that reads it again`,
    );
  }
  if (await holdsAnother(watch, reader, reach)) {
    // The node is on another chain. It is asked again, and alarms for as long.
    metrics.differed(chain.id, "final_hash", 1);
    throw new WitnessError(
      `chain ${chain.id}: the provider that reads again holds another block ${reach}`,
    );
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
