import type { Job } from "@payment-links/process";
import type { Deps } from "../deps.ts";
import { keepDeliveryLog } from "../store/delivery-log.ts";
import { forgetHours } from "../store/endpoint-hours.ts";

/** Keeps the delivery log and the endpoints' hours to their length, at the start and then every hour. */
export const keepLog = (
  { clock, pool }: Pick<Deps, "clock" | "pool">,
  /** How long after its event a delivery stays in the log. */
  { logDays }: { logDays: number },
): Job => ({
  name: "delivery log",
  waitMs: 60 * 60_000,
  run: async () => {
    const now = clock.now();
    const isLogLeft = await keepDeliveryLog(pool, { now, keptDays: logDays });
    const areHoursLeft = await forgetHours(pool, { now });
    return isLogLeft || areHoursLeft;
  },
});
