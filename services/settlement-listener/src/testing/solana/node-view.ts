import * as z from "zod";
import type { Block, LandedTransaction, Ledger } from "./create-ledger.ts";
import { contextSlotNotReachedError, invalidParamsError } from "./rpc-errors.ts";

export const Commitment = z.enum(["processed", "confirmed", "finalized"]);
export type Commitment = z.infer<typeof Commitment>;

/** How many blocks `confirmed` and `finalized` lag behind the head. */
export type CommitmentLags = { confirmedLag: number; finalizedLag: number };

/** One node's view of the chain. */
export type NodeView = {
  ledger: Ledger;
  /** Returns the newest block at a commitment. */
  findNewestBlock(commitment: Commitment): Block;
  /**
   * Returns the node's blocks, one per height. Those above the newest block of a commitment are not
   * visible at that commitment.
   */
  blocks(): readonly Block[];
  /** Returns whether it has a transaction, in a block that is no newer than the given one. */
  hasTransaction(landed: LandedTransaction, newest: Block): boolean;
  /** Returns the slot of the oldest block that it has not pruned. */
  firstSlot(): number;
  /** Returns how many slots it lags behind. */
  slotsBehind(): number;
  /** Returns whether it reads pruned blocks from long-term storage. */
  isArchive(): boolean;
};

/** The options that methods share. */
export const ContextOptions = z.object({
  // Nodes default to `finalized`, so clients omit it.
  commitment: Commitment.default("finalized"),
  minContextSlot: z.number().optional(),
});

/** Parses a call's parameters, or throws an invalid-parameters error. */
export const parseParams = <Shape extends z.ZodType>(
  schema: Shape,
  params: readonly unknown[],
): z.infer<Shape> => {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalidParamsError(`Invalid params: ${issue?.path.join(".")}: ${issue?.message}.`);
};

/** Returns the block at which a request is answered. */
export const resolveContextBlock = (
  view: NodeView,
  { commitment, minContextSlot }: z.infer<typeof ContextOptions>,
): Block => {
  const block = view.findNewestBlock(commitment);
  if (minContextSlot !== undefined && minContextSlot > block.slot) {
    throw contextSlotNotReachedError(block.slot);
  }
  return block;
};

/** Wraps a value with its slot. */
export const withContext = (block: Block, value: unknown) => ({
  context: { apiVersion: "4.0.0", slot: block.slot },
  value,
});
