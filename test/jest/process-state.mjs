// Checks whether a test file left its process unchanged. Otherwise the process runs no other file.
import { setImmediate as waitForNextTurn } from "node:timers/promises";
import { hasSharedRigs } from "./shared-rigs.ts";

const eventLoopTurnsMax = 20;
/** The global where OpenTelemetry stores its providers, which can be registered once per process. */
const telemetryKey = Symbol.for("opentelemetry.js.api.1");

const countListeners = () =>
  Object.fromEntries(
    process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  );
const listResources = () => process.getActiveResourcesInfo().toSorted();

/** Records the environment, telemetry, listeners and open resources of the process. */
export const takeSnapshot = () => {
  const env = JSON.stringify(process.env);
  const hadTelemetry = telemetryKey in globalThis;
  const listeners = JSON.stringify(countListeners());
  const resources = listResources().join(" ");

  /** Waits a few event loop turns, because a closed socket stays listed for a moment. */
  const listHandleChanges = async () => {
    for (
      let turn = 0;
      turn < eventLoopTurnsMax && listResources().join(" ") !== resources;
      turn += 1
    ) {
      await waitForNextTurn();
    }
    const changes = [];
    if (JSON.stringify(countListeners()) !== listeners) changes.push("listeners");
    if (listResources().join(" ") !== resources) changes.push(`resources ${listResources()}`);
    return changes;
  };

  return {
    /** Returns the names of what differs from the snapshot. */
    listChanges: async () => {
      const changes = [];
      if (JSON.stringify(process.env) !== env) changes.push("environment");
      // A shared rig stays open between files and holds listeners and resources.
      if (!hasSharedRigs()) changes.push(...(await listHandleChanges()));
      if (telemetryKey in globalThis !== hadTelemetry) changes.push("telemetry");
      return changes;
    },
  };
};
