import { setTimeout } from "node:timers/promises";
import * as z from "zod";
import type { Environment } from "@payment-links/runtime";
import { type Call, CommandError, send } from "./admin-call.ts";

const Progress = z.looseObject({ publishedCount: z.int(), endedAt: z.string().nullable() });

const lookEveryMs = 500;
const tellEveryMs = 10_000;

/**
 * Has a service tell its present state again, and waits until it has, unless that is not wanted. What
 * it answers at last is the progress; on the way, stderr tells it.
 */
export const republish = async (
  { service, what, isWaiting }: { service: Call["service"]; what: string; isWaiting: boolean },
  environment: Environment,
): Promise<unknown> => {
  const path = `/internal/republish/${what}`;
  const call = async (method: Call["method"]) =>
    Progress.parse(await send({ service, method, path }, environment));
  let progress = await call("POST");
  let toldAtMs = performance.now();
  if (!isWaiting) return progress;
  while (progress.endedAt === null) {
    await setTimeout(lookEveryMs);
    progress = await call("GET").catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      throw new CommandError(
        `${error.message}\nit goes on by itself; given again, the command begins anew and waits`,
      );
    });
    if (performance.now() - toldAtMs < tellEveryMs) continue;
    toldAtMs = performance.now();
    process.stderr.write(`${progress.publishedCount} told so far\n`);
  }
  return progress;
};
