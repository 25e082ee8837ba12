import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import type { Log } from "@payment-links/runtime";

const startMsMax = 120_000;
const exitMsMax = 10_000;
const errorOutputCharactersMax = 2_000;

/**
 * The node's standard input is a pipe whose other end we hold. However we end, the kernel closes
 * it; then the shell tells the node to end, and the node writes its state first. An orderly close
 * goes the same way.
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

/** A node that runs on loopback. */
export type RunningNode = {
  url: string;
  /**
   * Ends it within a bound; its state is written if a file was given for it. More calls do nothing.
   */
  close(): Promise<void>;
};

/**
 * Starts a node's program, which tells on standard output at which port of 127.0.0.1 it listens. It
 * ends with this process, even if that is killed.
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
  /** Finds the port in a line that the program prints. */
  listeningPattern: RegExp;
  /** Where the node's process id is written. */
  pidFile?: string | undefined;
  log: Log;
}): Promise<RunningNode> => {
  const child = spawn("/bin/sh", ["-c", exitWithParentScript, program, ...args], {
    // It reads files below the home directory, and needs nothing else of our environment.
    env: { PATH: "/usr/bin:/bin", HOME: tmpdir(), PID_FILE: pidFile },
    cwd: tmpdir(),
    // A group of its own: a terminal's Ctrl-C must not end it before its clients have drained.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A node that is gone reads nothing more; all that is written to it is the request to end.
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
    if (closing === undefined) log.error({ code, signal }, "the development chain ended by itself");
  });
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => (closing ??= stopChild(child, exited)),
  };
};

/**
 * The node prints where it listens; everything else it prints is read and dropped, or it would
 * stall.
 */
const readPort = async (
  child: ChildProcess,
  { program, listeningPattern }: { program: string; listeningPattern: RegExp },
): Promise<number> => {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the node's output is a pipe");
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
  // The promise that loses the race has nobody to catch its error.
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
  // oxlint-disable-next-line reliability/no-short-limit -- `npm start` ends by it, within its 25 s
  const killTimer = setTimeout(() => killProcessGroup(child), exitMsMax);
  await exited.finally(() => clearTimeout(killTimer));
};

const killProcessGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
};
