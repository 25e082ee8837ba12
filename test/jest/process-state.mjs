// Checks whether a test file left its process unchanged. If not, the process is not reused for
// other files.
import { setImmediate as waitForNextTurn } from "node:timers/promises";
import { hasSharedRigs } from "./shared-rigs.ts";

const eventLoopTurnsMax = 20;
/**
 * The global where OpenTelemetry stores its providers. They can be registered only once per
 * process.
 */
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

  /**
   * Lists changed listeners and resources. Waits a few turns of the event loop first, because a
   * closed socket is still listed for a short time.
   */
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
    /** Returns the names of the things that differ from the snapshot. */
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
