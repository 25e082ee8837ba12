import type { Log } from "@payment-links/runtime";
import { type RunningNode, startProgram } from "../start-program.ts";
import { findAnvil } from "./find-programs.ts";

export type Anvil = RunningNode;

/**
 * Starts a new anvil node with the given flags on 127.0.0.1, at the given port or a free one. The
 * node stops when this process ends, even if this process is killed. Fails if the port is in use,
 * and never connects to a node of another process.
 */
export const startAnvil = async ({
  port = 0,
  flags,
  pidFile,
  log,
}: {
  port?: number | undefined;
  flags: readonly string[];
  /** The file to which the node's process id is written. */
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
