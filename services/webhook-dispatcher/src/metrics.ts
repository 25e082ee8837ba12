import { Counter } from "prom-client";
import type { Metrics } from "@payment-links/runtime";

/** Creates the counter of link records whose version does not directly follow the previous one. */
export const createVersionJumpCounter = (metrics: Metrics): (() => void) => {
  const jumps = new Counter({
    name: "payment_links_link_version_jumps_total",
    help: "Link records whose version was more than one above the last received version",
    registers: [metrics],
  });
  return () => jumps.inc();
};
