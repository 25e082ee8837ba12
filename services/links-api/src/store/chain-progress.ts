import { sql } from "slonik";
import * as z from "zod";
import { Int8, type Transaction, defineTable, sqlVoid } from "@payment-links/postgres";
import { ConfirmationsByAmount } from "@payment-links/contracts";
import { type ChainProgress, latestPlausibleTime } from "../domain/confirmations.ts";

const ProgressRow = z.object({
  chainId: z.string(),
  headBlock: Int8,
  settledTo: Int8,
  neededBlocks: Int8,
  neededByAmount: ConfirmationsByAmount.nullable().transform(
    (requirements) => requirements ?? undefined,
  ),
  at: z.date(),
}) satisfies z.ZodType<ChainProgress>;
const { columns } = defineTable(ProgressRow, { expressions: { at: sql.fragment`told_at` } });

/** Locks a chain's stored progress and returns it, or undefined if there is none. */
export const lockChainProgress = async (
  tx: Transaction,
  chainId: string,
): Promise<ChainProgress | undefined> =>
  (await tx.maybeOne(sql.type(ProgressRow)`
    SELECT ${columns} FROM chain_advances WHERE chain_id = ${chainId} FOR UPDATE
  `)) ?? undefined;

/**
 * Stores a chain's progress. If a concurrent transaction has stored a later update, and its time is
 * plausible at `now`, that update is kept.
 */
export const upsertChainProgress = async (
  tx: Transaction,
  { chainId, headBlock, settledTo, neededBlocks, neededByAmount, at }: ChainProgress,
  now: Date,
): Promise<void> => {
  // The JSON contains the amounts as text, because JSON numbers would lose digits.
  const neededJson =
    neededByAmount && JSON.stringify(z.encode(ConfirmationsByAmount, neededByAmount));
  await tx.query(sqlVoid`
    INSERT INTO chain_advances AS kept (
      chain_id, head_block, settled_to, needed_blocks, needed_by_amount, told_at
    )
    VALUES (
      ${chainId}, ${headBlock}, ${settledTo}, ${neededBlocks}, ${neededJson ?? null}::jsonb,
      ${sql.timestamp(at)}
    )
    ON CONFLICT (chain_id) DO UPDATE SET
      head_block = excluded.head_block, settled_to = excluded.settled_to,
      needed_blocks = excluded.needed_blocks, needed_by_amount = excluded.needed_by_amount,
      told_at = excluded.told_at
    WHERE kept.told_at < excluded.told_at OR kept.told_at > ${sql.timestamp(latestPlausibleTime(now))}
  `);
};
