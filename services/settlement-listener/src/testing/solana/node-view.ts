import * as z from "zod";
import type { Block, LandedTransaction, Ledger } from "./create-ledger.ts";
import { contextSlotNotReachedError, invalidParamsError } from "./rpc-errors.ts";

export const Commitment = z.enum(["processed", "confirmed", "finalized"]);
export type Commitment = z.infer<typeof Commitment>;

/** How many blocks `confirmed` and `finalized` are behind the head. */
export type CommitmentLags = { confirmedLag: number; finalizedLag: number };

/** What one node knows of the chain. */
export type NodeView = {
  ledger: Ledger;
  /** The newest block at a commitment. */
  findNewestBlock(commitment: Commitment): Block;
  /** Its blocks, one per height; those above the tops are not known yet. */
  blocks(): readonly Block[];
  /** Whether it has a transaction, in a block that is no newer than the given one. */
  hasTransaction(landed: LandedTransaction, newest: Block): boolean;
  /** The slot of the oldest block that it has not pruned. */
  firstSlot(): number;
  /** How many slots it is behind. */
  slotsBehind(): number;
  /** Whether it looks into a long-term storage for what it does not hold itself. */
  isArchive(): boolean;
};

/** What a caller asks for beside a method's own parameters. */
export const ContextOptions = z.object({
  // A client leaves it out where it means `finalized`, as that is what nodes take then.
  commitment: Commitment.default("finalized"),
  minContextSlot: z.number().optional(),
});

/** Reads a call's parameters, or refuses them. */
export const parseParams = <Shape extends z.ZodType>(
  schema: Shape,
  params: readonly unknown[],
): z.infer<Shape> => {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalidParamsError(`Invalid params: ${issue?.path.join(".")}: ${issue?.message}.`);
};

/** The block as of which a question is answered. */
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

/** An answer with the slot that it is of. */
export const withContext = (block: Block, value: unknown) => ({
  context: { apiVersion: "4.0.0", slot: block.slot },
  value,
});
