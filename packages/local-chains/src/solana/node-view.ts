import * as z from "zod";
import type { Block, LandedTransaction, Ledger } from "./create-ledger.ts";
import { contextSlotNotReachedError, invalidParamsError } from "./rpc-errors.ts";

export const Commitment = z.enum(["processed", "confirmed", "finalized"]);
export type Commitment = z.infer<typeof Commitment>;

/** The number of blocks by which `confirmed` and `finalized` lag behind the head. */
export type CommitmentLags = { confirmedLag: number; finalizedLag: number };

/** The chain as one node sees it. */
export type ChainView = {
  genesisHash: string;
  /** Returns the newest block at a commitment. */
  findNewestBlock(commitment: Commitment): Block;
  /**
   * Returns the node's blocks, one per height. At a commitment, only the blocks up to the newest
   * one at that commitment are visible.
   */
  blocks(): readonly Block[];
  /** Returns a transaction, unless it is in a block that is newer than the given one. */
  findTransaction(signature: string, newest: Block): LandedTransaction | undefined;
  /** Returns the transactions of a key that are not in newer blocks, oldest first. */
  listTransactions(key: string, newest: Block): readonly LandedTransaction[];
  /** Returns the slot of the oldest block that the node has not pruned. */
  firstSlot(): number;
  /** Returns how many slots the node lags behind. */
  slotsBehind(): number;
  /** Returns whether the node reads pruned blocks from long-term storage. */
  isArchive(): boolean;
};

/** The view of a node that executes transactions. */
export type NodeView = ChainView & { ledger: Ledger };

/** The options that several methods have. */
export const ContextOptions = z.object({
  // The default on real nodes is `finalized`, so clients omit it.
  commitment: Commitment.default("finalized"),
  minContextSlot: z.number().optional(),
});

/**
 * Parses the parameters of a call. Ignores additional parameters. Null means that a parameter is
 * omitted. Throws an invalid-parameters error if they do not match.
 */
export const parseParams = <Shape extends z.ZodTuple>(
  schema: Shape,
  params: readonly unknown[],
): z.infer<Shape> => {
  const result = schema.safeParse(schema.def.items.map((_, index) => params[index] ?? undefined));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalidParamsError(`Invalid params: ${issue?.path.join(".")}: ${issue?.message}.`);
};

/** Returns the block that determines the state for a request. */
export const resolveContextBlock = (
  view: ChainView,
  { commitment, minContextSlot }: z.infer<typeof ContextOptions>,
): Block => {
  const block = view.findNewestBlock(commitment);
  if (minContextSlot !== undefined && minContextSlot > block.slot) {
    throw contextSlotNotReachedError(block.slot);
  }
  return block;
};

/** Wraps a value together with the block's slot. */
export const withContext = (block: Block, value: unknown) => ({
  context: { apiVersion: "4.0.0", slot: block.slot },
  value,
});
