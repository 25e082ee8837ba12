import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { deleteAuditBefore } from "../store/audit-log.ts";
import { deleteBatchMax } from "./delete-expired-rows.ts";

const dayMs = 24 * 60 * 60_000;

/** Deletes audit log entries older than the configured retention, if any. */
export const deleteOldAuditEntries = ({
  auditLogDays,
  clock,
  pool,
}: Pick<Dependencies, "pool" | "clock" | "auditLogDays">): BackgroundJob => ({
  name: "audit log",
  waitMs: 60 * 60_000,
  run: async () => {
    if (auditLogDays === 0) return false;
    const before = new Date(clock.now().getTime() - auditLogDays * dayMs);
    return (await deleteAuditBefore(pool, { before, rowsMax: deleteBatchMax })) === deleteBatchMax;
  },
});
