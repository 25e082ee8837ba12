import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { maintainDeliveryLog } from "../store/delivery-log.ts";
import { deleteOldHours } from "../store/endpoint-hours.ts";

/**
 * Deletes old entries of the delivery log and of the hourly counts, at startup and then every hour.
 */
export const createDeliveryLogRetentionJob = (
  { clock, pool }: Pick<Dependencies, "clock" | "pool">,
  /** How many days after its event a delivery stays in the log. */
  { logDays }: { logDays: number },
): BackgroundJob => ({
  name: "delivery log",
  waitMs: 60 * 60_000,
  run: async () => {
    const now = clock.now();
    const hasMoreLogEntries = await maintainDeliveryLog(pool, { now, retentionDays: logDays });
    const hasMoreHours = await deleteOldHours(pool, { now });
    return hasMoreLogEntries || hasMoreHours;
  },
});
