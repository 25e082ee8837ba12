import type { Log } from "@payment-links/runtime";
import { type RunningNode, startProgram } from "../start-program.ts";
import { findAnvil } from "./find-programs.ts";

export type Anvil = RunningNode;

/**
 * Starts a node of our own with the given flags, on the given port of 127.0.0.1 or a free one. It
 * ends with this process, even if that is killed. Fails if the port is taken; somebody else's node
 * is never used.
 */
export const startAnvil = async ({
  port = 0,
  flags,
  pidFile,
  log,
}: {
  port?: number | undefined;
  flags: readonly string[];
  /** Where the node's process id is written. */
  pidFile?: string | undefined;
  log: Log;
}): Promise<Anvil> =>
  await startProgram({
    program: findAnvil(),
    args: ["--host", "127.0.0.1", "--port", String(port), ...flags],
    listeningPattern: /^Listening on 127\.0\.0\.1:(\d+)$/,
    pidFile,
    log,
  });
