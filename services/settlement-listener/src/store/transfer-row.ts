import * as z from "zod";
import { sql } from "slonik";
import { Amount } from "@payment-links/contracts";
import { BlockNumber } from "./block-number.ts";
import { Payer } from "./payer.ts";

/** A row with the columns of {@link transferColumns}. */
export const TransferRow = z.object({
  chainId: z.string(),
  transactionHash: z.string(),
  ordinal: z.int(),
  blockNumber: BlockNumber,
  blockHash: z.string(),
  occurredAt: z.date(),
  referenceHash: z.string(),
  tokenAddress: z.string(),
  destinationAddress: z.string(),
  amount: Amount,
  sender: z.string(),
  payer: Payer,
  nonce: BlockNumber.nullable(),
  isOrphaned: z.boolean(),
  paymentLinkId: z.string().nullable(),
});

/** The columns of a transfer. The query must use the table alias `kept`. */
export const transferColumns = sql.fragment`
  kept.chain_id AS "chainId", kept.transaction_hash AS "transactionHash", kept.ordinal,
  kept.block_number AS "blockNumber", kept.block_hash AS "blockHash",
  kept.occurred_at AS "occurredAt", kept.reference_hash AS "referenceHash",
  kept.token_address AS "tokenAddress", kept.destination_address AS "destinationAddress",
  kept.amount, kept.sender, kept.payer, kept.nonce, kept.is_orphaned AS "isOrphaned",
  kept.payment_link_id AS "paymentLinkId"
`;

/** The order from oldest to newest. It is deterministic, even for transfers in one block. */
export const oldestFirst = sql.fragment`occurred_at, block_number, transaction_hash, ordinal`;
