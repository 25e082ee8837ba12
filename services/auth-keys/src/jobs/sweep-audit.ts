import type { Deps } from "../deps.ts";
import { deleteAuditBefore } from "../store/audit-log.ts";
import { sweepRowsMax } from "./sweep-ended.ts";

const dayMs = 24 * 60 * 60_000;

type SweepDeps = Pick<Deps, "pool" | "clock" | "auditLogDays">;

/** Keeps the audit log to the length that is set, if one is; answers whether there may be more to do. */
export const sweepAudit = async ({ auditLogDays, clock, pool }: SweepDeps): Promise<boolean> => {
  if (auditLogDays === 0) return false;
  const before = new Date(clock.now().getTime() - auditLogDays * dayMs);
  return (await deleteAuditBefore(pool, { before, rowsMax: sweepRowsMax })) === sweepRowsMax;
};
