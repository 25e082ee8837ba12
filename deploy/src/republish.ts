import { setTimeout } from "node:timers/promises";
import * as z from "zod";
import type { Environment } from "@payment-links/runtime";
import { type AdminCall, CommandError, sendCall } from "./admin-call.ts";

const Progress = z.looseObject({ publishedCount: z.int(), endedAt: z.string().nullable() });

const pollIntervalMs = 500;
const reportIntervalMs = 10_000;

/**
 * Starts a republish of a service's current state and, by default, waits until it has finished.
 * Reports the progress on stderr, and returns the last progress.
 */
export const republish = async (
  {
    service,
    resource,
    shouldWait,
  }: { service: AdminCall["service"]; resource: string; shouldWait: boolean },
  environment: Environment,
): Promise<unknown> => {
  const path = `/internal/republish/${resource}`;
  const requestProgress = async (method: AdminCall["method"]) =>
    Progress.parse(await sendCall({ service, method, path }, environment));
  let progress = await requestProgress("POST");
  let reportedAtMs = performance.now();
  if (!shouldWait) return progress;
  while (progress.endedAt === null) {
    await setTimeout(pollIntervalMs);
    progress = await requestProgress("GET").catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      throw new CommandError(
        `${error.message}\nthe republish continues; to start it over and wait, run the command again`,
      );
    });
    if (performance.now() - reportedAtMs < reportIntervalMs) continue;
    reportedAtMs = performance.now();
    process.stderr.write(`${progress.publishedCount} published so far\n`);
  }
  return progress;
};
