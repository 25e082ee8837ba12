import * as z from "zod";
import { sql } from "slonik";
import { Amount } from "@payment-links/contracts";
import { Int8, defineTable } from "@payment-links/postgres";
import { Payer } from "./payer.ts";

/** A row with the columns of {@link transferColumns}. */
export const TransferRow = z.object({
  chainId: z.string(),
  transactionHash: z.string(),
  ordinal: z.int(),
  blockNumber: Int8,
  blockHash: z.string(),
  occurredAt: z.date(),
  referenceHash: z.string(),
  tokenAddress: z.string(),
  destinationAddress: z.string(),
  amount: Amount,
  sender: z.string(),
  payer: Payer,
  nonce: Int8.nullable(),
  isOrphaned: z.boolean(),
  paymentLinkId: z.string().nullable(),
});

/** The columns of a transfer. The query must use the table alias `kept`. */
export const { columns: transferColumns } = defineTable(TransferRow, { from: "kept" });

/** The order from oldest to newest. It is deterministic, even for transfers in one block. */
export const oldestFirst = sql.fragment`occurred_at, block_number, transaction_hash, ordinal`;
