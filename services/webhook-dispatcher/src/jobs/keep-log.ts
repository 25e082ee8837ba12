import type { Pool } from "@payment-links/postgres";
import { type Clock, type Log, type Loop, startLoop } from "@payment-links/runtime";
import { keepDeliveryLog } from "../store/delivery-log.ts";

type KeepLogOptions = {
  pool: Pool;
  clock: Clock;
  log: Log;
  /** How long after its event a delivery stays in the log. */
  logDays: number;
};

const everyMs = 60 * 60_000;

/** Keeps the delivery log at its length, from the start on and hourly. */
export const startKeepingLog = ({ pool, clock, log, logDays }: KeepLogOptions): Loop =>
  startLoop({
    name: "delivery log",
    clock,
    log,
    waitMs: everyMs,
    run: () => keepDeliveryLog(pool, { now: clock.now(), keptDays: logDays }),
  });
