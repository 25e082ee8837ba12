import { sql } from "slonik";
import { sqlVoid } from "@payment-links/postgres";
import type { Rig } from "./create-rig.ts";

/**
 * Inserts `count` entries into an account's audit log, as if the account had been used for a long
 * time.
 */
export const fillAuditLog = (
  { clock, pool }: Pick<Rig, "clock" | "pool">,
  accountId: string,
  count: number,
) =>
  pool.query(sqlVoid`
    INSERT INTO audit_log (occurred_at, account_id, actor_kind, action, target_id, detail)
    SELECT ${sql.timestamp(clock.now())}, ${accountId}, 'service', 'account.changed',
      'n_' || n, jsonb_build_object('text', repeat('x', 200))
    FROM generate_series(1, ${count}::int) AS n
  `);
