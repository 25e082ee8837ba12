import { Counter, Gauge } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import { connectionStates } from "./connection-progress.ts";
import type { Listening } from "./listen.ts";

type Measured = Pick<Listening, "connections" | "endedConnections">;

/** Adds to a process' metrics how many connections its ports hold, and how many they ended. */
export const measureConnections = (
  metrics: Metrics,
  listeners: Readonly<Record<"public" | "internal", Measured>>,
): void => {
  const registers = [metrics];
  const open = new Gauge({
    name: "payment_links_connections",
    help: "Open connections, by listener and by what they do",
    labelNames: ["listener", "state"] as const,
    registers,
    collect() {
      for (const [listener, measured] of Object.entries(listeners)) {
        const states = measured.connections();
        for (const state of connectionStates) this.set({ listener, state }, states[state]);
      }
    },
  });
  const ended = new Counter({
    name: "payment_links_connections_ended_total",
    help: "Connections that the server ended or refused, by listener and reason",
    labelNames: ["listener", "reason"] as const,
    registers,
    collect() {
      this.reset();
      for (const [listener, measured] of Object.entries(listeners)) {
        for (const [reason, count] of measured.endedConnections()) {
          this.inc({ listener, reason }, count);
        }
      }
    },
  });
  void [open, ended];
};
