// Whether a test file left its process as it found it. Only then may the next file run in it.
import { setImmediate as nextTurn } from "node:timers/promises";
import { hasSharedRigs } from "./shared-rigs.ts";

const turnsMax = 20;
/** Where OpenTelemetry keeps what was registered, which happens once in a process. */
const telemetry = Symbol.for("opentelemetry.js.api.1");

const countListeners = () =>
  Object.fromEntries(
    process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  );
const listResources = () => process.getActiveResourcesInfo().toSorted();

/** Remembers the environment, telemetry, listeners and open resources of the process. */
export const takeSnapshot = () => {
  const env = JSON.stringify(process.env);
  const hadTelemetry = telemetry in globalThis;
  const listeners = JSON.stringify(countListeners());
  const resources = listResources().join(" ");

  /** A closed socket takes a few turns to disappear. */
  const listOpen = async () => {
    for (let turn = 0; turn < turnsMax && listResources().join(" ") !== resources; turn += 1) {
      await nextTurn();
    }
    const changes = [];
    if (JSON.stringify(countListeners()) !== listeners) changes.push("listeners");
    if (listResources().join(" ") !== resources) changes.push(`resources ${listResources()}`);
    return changes;
  };

  return {
    /** Names what differs from the snapshot. */
    listChanges: async () => {
      const changes = [];
      if (JSON.stringify(process.env) !== env) changes.push("environment");
      // A shared rig stays open between files, with listeners and resources of its own.
      if (!hasSharedRigs()) changes.push(...(await listOpen()));
      if (telemetry in globalThis !== hadTelemetry) changes.push("telemetry");
      return changes;
    },
  };
};
