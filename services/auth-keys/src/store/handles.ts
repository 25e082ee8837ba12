import * as z from "zod";
import { sql } from "slonik";
import { createApiError } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { handlesMax } from "../domain/handle.ts";

const ClaimedRow = z.object({ isNew: z.boolean() });
const CountRow = z.object({ count: z.int() });

type HandleClaim = { accountId: string; handle: string; now: Date };

/**
 * Makes a handle an account's own, for ever. The account may take back one that it had before. The
 * account's row is locked. Throws HANDLE_TAKEN, HANDLE_LIMIT.
 */
export const claimHandle = async (
  tx: Transaction,
  { accountId, handle, now }: HandleClaim,
): Promise<void> => {
  // The update changes nothing: it waits for a rival that inserts the same handle, and returns the
  // row only if it is the account's own. A row that no update has touched was inserted just now.
  const isNew = await tx.maybeOneFirst(sql.type(ClaimedRow)`
    INSERT INTO handles AS h (handle, account_id, taken_at)
    VALUES (${handle}, ${accountId}, ${sql.timestamp(now)})
    ON CONFLICT (handle) DO UPDATE SET handle = excluded.handle
      WHERE h.account_id = excluded.account_id
    RETURNING h.xmax = 0 AS "isNew"
  `);
  if (isNew === null) throw createApiError("HANDLE_TAKEN");
  if (!isNew) return;
  const count = await tx.oneFirst(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM handles WHERE account_id = ${accountId}
  `);
  if (count > handlesMax) throw createApiError("HANDLE_LIMIT");
};
