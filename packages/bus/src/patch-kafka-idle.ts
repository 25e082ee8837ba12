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
/** The longest delay between a request's timeout and its rejection. */
const timeoutCheckIntervalMs = 2_000;

const require = createRequire(import.meta.url);
let isPatched = false;

/**
 * Stops kafkajs 2.2.4 from busy polling. After every check, its request queue sets a timer with a
 * negative delay, even if no request is pending. Node turns that into 1,000 wake-ups per second and
 * connection (kafkajs issue 1751, unreleased). kafkajs also checks each connection for timed-out
 * requests ten times a second; this patch checks every two seconds. Does not patch other versions.
 */
export const patchKafkaIdlePolling = (log: Log): void => {
  if (isPatched) return;
  isPatched = true;
  const { version } = require("kafkajs/package.json") as { version: string };
  if (version !== patchedVersion) {
    log.warn({ version }, "unexpected kafkajs version, idle patch not applied");
    return;
  }
  // The cast is safe, because the version check determines the module's shape.
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
