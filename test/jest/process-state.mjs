// Whether a test file left its process as it found it. Only then may the next file run in it.
import { setImmediate as nextTurn } from "node:timers/promises";
import { hasShared } from "./shared-rigs.ts";

const turnsMax = 20;
/** Jest's framework keeps its own state there, and replaces it for each file. */
const isOfJest = (key) => /jest/i.test(typeof key === "symbol" ? (key.description ?? "") : key);

const listGlobals = () => Reflect.ownKeys(globalThis).filter((key) => !isOfJest(key));
const countListeners = () =>
  Object.fromEntries(
    process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  );
/** A shared rig stays open between files. */
const listResources = () => (hasShared() ? [] : process.getActiveResourcesInfo().toSorted());

/** Remembers the process' environment, globals, listeners and open resources. */
export const takeSnapshot = () => {
  const env = JSON.stringify(process.env);
  const globals = new Set(listGlobals());
  const listeners = JSON.stringify(countListeners());
  const resources = listResources().join(" ");

  return {
    /** Names what differs from the snapshot. A closed socket takes a few turns to disappear. */
    listChanges: async () => {
      for (let turn = 0; turn < turnsMax && listResources().join(" ") !== resources; turn += 1) {
        await nextTurn();
      }
      const changes = [];
      if (JSON.stringify(process.env) !== env) changes.push("environment");
      if (JSON.stringify(countListeners()) !== listeners) changes.push("listeners");
      if (listResources().join(" ") !== resources) changes.push(`resources ${listResources()}`);
      const added = listGlobals().filter((key) => !globals.has(key));
      if (added.length > 0) changes.push(`globals ${added.map(String).join(", ")}`);
      return changes;
    },
  };
};
