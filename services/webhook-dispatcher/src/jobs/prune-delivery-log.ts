import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { maintainDeliveryLog } from "../store/delivery-log.ts";
import { deleteOldHours } from "../store/endpoint-hours.ts";

/**
 * Deletes old entries of the delivery log and of the hourly counts, at startup and then every hour.
 */
export const pruneDeliveryLog = ({
  clock,
  logDays,
  pool,
}: Pick<Dependencies, "clock" | "logDays" | "pool">): BackgroundJob => ({
  name: "delivery log",
  waitMs: 60 * 60_000,
  run: async () => {
    const now = clock.now();
    const hasMoreLogEntries = await maintainDeliveryLog(pool, { now, retentionDays: logDays });
    const hasMoreHours = await deleteOldHours(pool, { now });
    return hasMoreLogEntries || hasMoreHours;
  },
});
