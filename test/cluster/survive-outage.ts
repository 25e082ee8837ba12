import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "./command.ts";
import { type Load, type LoadState, assertNothingLost, startLoad } from "./load.ts";
import { readPods } from "./pods.ts";
import type { Release } from "./release.ts";

const requestsPerSecond = 10;
/** How long the load runs before the outage. It creates data that the outage could lose. */
const beforeOutageMs = 10_000;
const outageMs = 120_000;
const recoveryMsMax = 30_000;
/**
 * The services count as recovered when no request has failed for this long. The time of the
 * recovery is when the last failed request was sent.
 */
const quietMs = 5_000;
/**
 * How long to wait for a recovery. This is longer than the limit, so that the report can show how
 * late a recovery was.
 */
const watchMsMax = 120_000;
const commandMsMax = 90_000;
const pollMs = 500;

/**
 * Stops a server for two minutes. Asserts that no pod restarts, that all services recover within 30
 * s after the server starts again, and that accepted data is not lost.
 */
export const surviveOutage = async (
  release: Release,
  server: "postgres" | "kafka" | "redis",
): Promise<void> => {
  const { cluster, config } = release;
  const [command = "", ...args] = config.SERVERS_COMMAND.split(" ").filter((word) => word !== "");
  assert.ok(command !== "", "SERVERS_COMMAND is required");
  const switchServer = (action: "start" | "stop") =>
    runCommand(command, [...args, action, server], { timeoutMs: commandMsMax });
  const podsBefore = await readPods(cluster);
  const load = await startLoad(release, requestsPerSecond);
  await sleep(beforeOutageMs);
  await switchServer("stop");
  try {
    await sleep(outageMs);
    reportState("during the outage", await load.readState());
  } finally {
    await switchServer("start");
  }
  const recoveryMs = await waitForRecovery(load);
  assertNothingLost(await load.end());
  // The pods must be the same as before: ready, and with the same number of restarts.
  assert.deepEqual(await readPods(cluster), podsBefore);
  assert.ok(recoveryMs <= recoveryMsMax, `the recovery took ${recoveryMs} ms`);
};

const reportState = (moment: string, { sent, failures, oldestPendingMs }: LoadState): void => {
  process.stdout.write(`  ${moment}: ${JSON.stringify({ sent, failures, oldestPendingMs })}\n`);
};

/**
 * Returns the time until requests no longer fail and a payment that was accepted after the server's
 * start has its webhook.
 */
const waitForRecovery = async (load: Load): Promise<number> => {
  const returnedAtMs = performance.now();
  let reportedAfterMs: number | undefined;
  for (;;) {
    await sleep(pollMs);
    const state = await load.readState();
    const sinceMs = Math.round(performance.now() - returnedAtMs);
    if (state.newestNotifiedMs !== null && state.newestNotifiedMs < sinceMs)
      reportedAfterMs ??= sinceMs;
    const { lastFailedMs } = state;
    const failedAfterMs = lastFailedMs === null ? 0 : Math.max(0, sinceMs - lastFailedMs);
    const isQuiet = sinceMs - failedAfterMs >= quietMs;
    if (isQuiet && reportedAfterMs !== undefined) {
      const times = `last failed request after ${failedAfterMs} ms, first webhook after ${reportedAfterMs} ms`;
      reportState(`after the outage, ${times}`, state);
      return Math.max(failedAfterMs, reportedAfterMs);
    }
    if (sinceMs > watchMsMax)
      throw new Error(`no recovery within the limit: ${JSON.stringify(state)}`);
  }
};
