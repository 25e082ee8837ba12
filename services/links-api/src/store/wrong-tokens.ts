import { sql } from "slonik";
import * as z from "zod";
import { Amount, type Decimal, type Mode } from "@payment-links/contracts";
import type { Db } from "@payment-links/postgres";

const WrongTokenRow = z.object({
  amount: Amount,
  tokenAddress: z.string(),
  sourceTransaction: z.string(),
});

type WrongTokenQuery = {
  link: { id: string; userId: string; mode: Mode; destinationAddress: string; createdAt: Date };
  chainId: string;
  /** The addresses of the tokens that are easily mistaken for the link's token. */
  tokens: readonly string[];
  remainingAmount: Decimal;
};

/**
 * The number of newest rows that are scanned. It is limited because a link can have any number of
 * payments, and an owner can have any number of deposits.
 */
const scannedRowsMax = 100;

/**
 * Finds the newest money that was sent to a link in a token that is easily mistaken for its own.
 * This is a payment that identifies the link, or an undecided deposit of exactly the remaining
 * amount at the link's destination. Returns undefined if there is none.
 */
export const findWrongToken = async (
  db: Db,
  { link, chainId, tokens, remainingAmount }: WrongTokenQuery,
): Promise<z.output<typeof WrongTokenRow> | undefined> => {
  const isLookalike = sql.fragment`
    chain_id = ${chainId} AND token_address = ANY (${sql.array([...tokens], "text")})
  `;
  const row = await db.maybeOne(sql.type(WrongTokenRow)`
    SELECT amount, token_address AS "tokenAddress", source_transaction AS "sourceTransaction"
    FROM (
      (
        SELECT * FROM (
          SELECT amount, token_address, chain_id, source_transaction, first_seen_at, id
          FROM payments WHERE link_id = ${link.id} AND status <> 'failed'
          ORDER BY first_seen_at DESC, id DESC LIMIT ${scannedRowsMax}
        ) AS newest
        WHERE ${isLookalike} AND source_transaction IS NOT NULL
      )
      UNION ALL
      (
        SELECT amount, token_address, chain_id, source_transaction, first_seen_at, id FROM (
          SELECT * FROM deposits
          WHERE user_id = ${link.userId} AND mode = ${link.mode} AND decision = 'unmatched'
          ORDER BY first_seen_at DESC, id DESC LIMIT ${scannedRowsMax}
        ) AS newest
        WHERE ${isLookalike} AND status <> 'orphaned'
          AND destination_address = ${link.destinationAddress}
          AND amount = ${remainingAmount.toFixed()}::numeric
          -- It came after the link by both clocks; a block's time has no milliseconds.
          AND occurred_at >= date_trunc('second', ${sql.timestamp(link.createdAt)})
          AND first_seen_at >= ${sql.timestamp(link.createdAt)}
      )
    ) AS found
    ORDER BY first_seen_at DESC, id DESC LIMIT 1
  `);
  return row ?? undefined;
};
