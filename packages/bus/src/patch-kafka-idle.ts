import { createRequire } from "node:module";
import type { Log } from "@payment-links/runtime";

type Request = { sentAt: number; requestTimeout: number; timeoutRequest(): void };

type RequestQueue = {
  pending: readonly unknown[];
  inflight: ReadonlyMap<number, Request>;
  enforceRequestTimeout: boolean;
  requestTimeoutIntervalId: NodeJS.Timeout | undefined;
  isConnected(): boolean;
  destroy(): void;
  scheduleRequestTimeoutCheck(): void;
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
};

const patchedVersion = "2.2.4";
const checkIntervalMs = 10;
/** So much later than its time a request without an answer may be given up. */
const timeoutCheckIntervalMs = 2_000;

const require = createRequire(import.meta.url);
let isPatched = false;

/**
 * Stops kafkajs 2.2.4 from spinning. Its request queue sets a timer with a negative delay after
 * every look, even if nothing is pending, and Node turns that into a thousand wake-ups a second per
 * connection (3 % of a core; kafkajs issue 1751, unreleased). And it looks ten times a second on each
 * connection for requests whose time is over: here every other second. Another version is left as it is.
 */
export const patchKafkaIdlePolling = (log: Log): void => {
  if (isPatched) return;
  isPatched = true;
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
      throttledMs > 0 ? throttledMs : checkIntervalMs,
    );
  };
  queue.prototype.scheduleRequestTimeoutCheck = function scheduleRequestTimeoutCheck() {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    this.requestTimeoutIntervalId = setInterval(() => {
      const nowMs = Date.now();
      for (const request of this.inflight.values()) {
        if (nowMs - request.sentAt > request.requestTimeout) request.timeoutRequest();
      }
      if (!this.isConnected()) this.destroy();
    }, timeoutCheckIntervalMs).unref();
  };
};
