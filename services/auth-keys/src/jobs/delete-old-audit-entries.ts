import type { Dependencies } from "../dependencies.ts";
import { deleteAuditBefore } from "../store/audit-log.ts";
import { deleteBatchMax } from "./delete-expired-rows.ts";

const dayMs = 24 * 60 * 60_000;

type SweepDependencies = Pick<Dependencies, "pool" | "clock" | "auditLogDays">;

/**
 * Deletes audit log entries older than the configured retention, if any. Returns whether there may
 * be more.
 */
export const deleteOldAuditEntries = async ({
  auditLogDays,
  clock,
  pool,
}: SweepDependencies): Promise<boolean> => {
  if (auditLogDays === 0) return false;
  const before = new Date(clock.now().getTime() - auditLogDays * dayMs);
  return (await deleteAuditBefore(pool, { before, rowsMax: deleteBatchMax })) === deleteBatchMax;
};
