import { Counter, Gauge } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import { connectionStates } from "./connection-progress.ts";
import type { HttpListener } from "./listen.ts";

type MeasuredListener = Pick<HttpListener, "countConnections" | "countEndedConnections">;

/**
 * Registers metrics for each listener's open connections and for the connections that the server
 * closed.
 */
export const registerConnectionMetrics = (
  metrics: Metrics,
  listeners: Readonly<Record<"public" | "internal", MeasuredListener>>,
): void => {
  const registers = [metrics];
  const openGauge = new Gauge({
    name: "payment_links_connections",
    help: "Open connections, by listener and state",
    labelNames: ["listener", "state"] as const,
    registers,
    collect() {
      for (const [listener, measuredListener] of Object.entries(listeners)) {
        const states = measuredListener.countConnections();
        for (const state of connectionStates) this.set({ listener, state }, states[state]);
      }
    },
  });
  const endedCounter = new Counter({
    name: "payment_links_connections_ended_total",
    help: "Connections that the server closed or rejected, by listener and reason",
    labelNames: ["listener", "reason"] as const,
    registers,
    collect() {
      this.reset();
      for (const [listener, measuredListener] of Object.entries(listeners)) {
        for (const [reason, count] of measuredListener.countEndedConnections()) {
          this.inc({ listener, reason }, count);
        }
      }
    },
  });
  void [openGauge, endedCounter];
};
