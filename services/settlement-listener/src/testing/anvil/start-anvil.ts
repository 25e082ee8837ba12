import type { Log } from "@payment-links/runtime";
import { type RunningNode, startProgram } from "../start-program.ts";
import { findAnvil } from "./find-programs.ts";

export type Anvil = RunningNode;

/**
 * Starts our own node with the given flags, on the given port of 127.0.0.1 or a free one. It ends
 * with this process, even if that is killed. Fails if the port is in use, and never uses another
 * process's node.
 */
export const startAnvil = async ({
  port = 0,
  flags,
  pidFile,
  log,
}: {
  port?: number | undefined;
  flags: readonly string[];
  /** The file for the node's process id. */
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
