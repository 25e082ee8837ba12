import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import type { Log } from "@payment-links/runtime";

const startMsMax = 120_000;
const exitMsMax = 10_000;
const errorOutputCharactersMax = 2_000;

/**
 * The node's standard input is a pipe, and this process holds its other end. When this process ends
 * for any reason, the kernel closes the pipe. The shell then terminates the node, which first
 * writes its state. `close` works the same way.
 */
const exitWithParentScript = `
exec 3<&0
"$0" "$@" 3<&- &
node=$!
[ -z "$PID_FILE" ] || echo "$node" > "$PID_FILE"
{ read -r _ <&3; kill -TERM "$node"; } 2>/dev/null &
watch=$!
wait "$node"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`;

/** A node running on loopback. */
export type RunningNode = {
  url: string;
  /**
   * Stops the node within a time limit. If the node was given a file for its state, it writes that
   * first. Repeated calls have no effect.
   */
  close(): Promise<void>;
};

/**
 * Starts a node's program, which must print its port on 127.0.0.1 to standard output. The node
 * stops when this process ends, even if this process is killed.
 */
export const startProgram = async ({
  program,
  args,
  listeningPattern,
  pidFile = "",
  log,
}: {
  program: string;
  args: readonly string[];
  /** Matches the port in a line that the program prints. */
  listeningPattern: RegExp;
  /** The file to which the node's process id is written. */
  pidFile?: string | undefined;
  log: Log;
}): Promise<RunningNode> => {
  const child = spawn("/bin/sh", ["-c", exitWithParentScript, program, ...args], {
    // The node reads files in the home directory but needs no other environment variables.
    env: { PATH: "/usr/bin:/bin", HOME: tmpdir(), PID_FILE: pidFile },
    cwd: tmpdir(),
    // The node gets its own process group. Otherwise, Ctrl-C in a terminal would stop it before its
    // clients have drained.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  // Writing to a stopped node fails. Such an error can be ignored, because the only input is the
  // request to stop.
  child.stdin.on("error", () => undefined);
  const exited = once(child, "exit").then(() => child.stdin.destroy());
  const port = await readPort(child, { program, listeningPattern }).catch(
    async (error: unknown) => {
      await stopChild(child, exited);
      throw error;
    },
  );
  let closing: Promise<void> | undefined;
  child.once("exit", (code, signal) => {
    if (closing === undefined)
      log.error({ code, signal }, "the development chain exited unexpectedly");
  });
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => (closing ??= stopChild(child, exited)),
  };
};

/**
 * Returns the port that the node prints. Reads and discards all other output, because the node
 * would block otherwise.
 */
const readPort = async (
  child: ChildProcess,
  { program, listeningPattern }: { program: string; listeningPattern: RegExp },
): Promise<number> => {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the node's output is not a pipe");
  const name = program.slice(program.lastIndexOf("/") + 1);
  let errorOutput = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    errorOutput = `${errorOutput}${text}`.slice(-errorOutputCharactersMax);
  });
  const listeningPort = new Promise<number>((resolve, reject) => {
    createInterface(stdout).on("line", (line) => {
      const port = listeningPattern.exec(line)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once("close", () => reject(new Error(`${name} did not start: ${errorOutput.trim()}`)));
  });
  const startTimeout = Promise.withResolvers<never>();
  // Prevents an unhandled rejection if this promise loses the race.
  startTimeout.promise.catch(() => undefined);
  const onTimeout = () =>
    startTimeout.reject(new Error(`${name} did not start within ${startMsMax} ms`));
  const timer = setTimeout(onTimeout, startMsMax);
  return await Promise.race([listeningPort, startTimeout.promise]).finally(() =>
    clearTimeout(timer),
  );
};

const stopChild = async (child: ChildProcess, exited: Promise<unknown>): Promise<void> => {
  child.stdin?.end();
  // oxlint-disable-next-line reliability/no-short-limit -- must fit into the 25 s of `npm start`
  const killTimer = setTimeout(() => killProcessGroup(child), exitMsMax);
  await exited.finally(() => clearTimeout(killTimer));
};

const killProcessGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
};
