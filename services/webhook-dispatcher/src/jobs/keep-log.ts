import type { Job } from "@payment-links/process";
import type { Deps } from "../deps.ts";
import { keepDeliveryLog } from "../store/delivery-log.ts";

/** Keeps the delivery log to its length, at the start and then every hour. */
export const keepLog = (
  { clock, pool }: Pick<Deps, "clock" | "pool">,
  /** How long after its event a delivery stays in the log. */
  { logDays }: { logDays: number },
): Job => ({
  name: "delivery log",
  waitMs: 60 * 60_000,
  run: () => keepDeliveryLog(pool, { now: clock.now(), keptDays: logDays }),
});
