import * as z from "zod";
import { sql } from "slonik";
import { createApiError } from "@payment-links/contracts";
import type { Transaction } from "@payment-links/postgres";
import { handlesMax } from "../domain/handle.ts";

const ClaimedRow = z.object({ isNew: z.boolean() });
const CountRow = z.object({ count: z.int() });

type HandleClaim = { accountId: string; handle: string; now: Date };

/**
 * Reserves a handle for an account permanently. The account can reuse a handle that it had before.
 * The account's row must be locked. Throws HANDLE_TAKEN or HANDLE_LIMIT.
 */
export const claimHandle = async (
  tx: Transaction,
  { accountId, handle, now }: HandleClaim,
): Promise<void> => {
  // On a conflict, the update leaves the row as it is. It waits for a concurrent insert of the same
  // handle, and returns the row only if it belongs to this account. `xmax` is 0 only for a row that
  // was just inserted.
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
