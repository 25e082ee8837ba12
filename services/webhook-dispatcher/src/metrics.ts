import { Counter } from "prom-client";
import type { Metrics } from "@payment-links/runtime";

/** Makes the counter of records of a link whose version is not the next one. */
export const createVersionJumpCounter = (metrics: Metrics): (() => void) => {
  const jumps = new Counter({
    name: "payment_links_link_version_jumps_total",
    help: "Records of a link whose version was not the next one",
    registers: [metrics],
  });
  return () => jumps.inc();
};
