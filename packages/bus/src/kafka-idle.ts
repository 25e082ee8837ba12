import { createRequire } from "node:module";
import type { Log } from "@payment-links/runtime";

type RequestQueue = {
  pending: readonly unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
};

const patchedVersion = "2.2.4";
const checkEveryMs = 10;

const require = createRequire(import.meta.url);
let isDone = false;

/**
 * Stops kafkajs 2.2.4 from spinning. Its request queue sets a timer with a negative delay after
 * every look, even if nothing is pending, and Node turns that into a thousand wake-ups a second per
 * connection (3 % of a core; kafkajs issue 1751, unreleased). Another version is left as it is.
 */
export const quietIdleConnections = (log: Log): void => {
  if (isDone) return;
  isDone = true;
  const { version } = require("kafkajs/package.json") as { version: string };
  if (version !== patchedVersion) {
    log.warn({ version }, "kafkajs is another version than the one whose idle spin is patched");
    return;
  }
  // Only the version tells what the file looks like.
  const queue = require("kafkajs/src/network/requestQueue/index.js") as { prototype: RequestQueue };
  queue.prototype.scheduleCheckPendingRequests = function scheduleCheckPendingRequests() {
    if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
    const throttledMs = this.throttledUntil - Date.now();
    this.throttleCheckTimeoutId = setTimeout(
      () => {
        this.throttleCheckTimeoutId = null;
        this.checkPendingRequests();
      },
      throttledMs > 0 ? throttledMs : checkEveryMs,
    );
  };
};
