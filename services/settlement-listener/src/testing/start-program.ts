import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import type { Log } from "@payment-links/runtime";

const startMsMax = 120_000;
const endMsMax = 10_000;
const complaintCharactersMax = 2_000;

/**
 * The node's standard input is a pipe whose other end we hold. However we end, the kernel closes
 * it; then the shell tells the node to end, and the node writes its state first. An orderly close
 * goes the same way.
 */
const endWithParent = `
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
  listening,
  pidFile = "",
  log,
}: {
  program: string;
  args: readonly string[];
  /** Finds the port in a line that the program prints. */
  listening: RegExp;
  /** Where the node's process id is written. */
  pidFile?: string | undefined;
  log: Log;
}): Promise<RunningNode> => {
  const child = spawn("/bin/sh", ["-c", endWithParent, program, ...args], {
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
  const port = await readPort(child, { program, listening }).catch(async (error: unknown) => {
    await end(child, exited);
    throw error;
  });
  let closing: Promise<void> | undefined;
  child.once("exit", (code, signal) => {
    if (closing === undefined) log.error({ code, signal }, "the development chain ended by itself");
  });
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => (closing ??= end(child, exited)),
  };
};

/**
 * The node prints where it listens; everything else it prints is read and dropped, or it would
 * stall.
 */
const readPort = async (
  child: ChildProcess,
  { program, listening }: { program: string; listening: RegExp },
): Promise<number> => {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the node's output is a pipe");
  const name = program.slice(program.lastIndexOf("/") + 1);
  let complaint = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    complaint = `${complaint}${text}`.slice(-complaintCharactersMax);
  });
  const told = new Promise<number>((resolve, reject) => {
    createInterface(stdout).on("line", (line) => {
      const port = listening.exec(line)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once("close", () => reject(new Error(`${name} did not start: ${complaint.trim()}`)));
  });
  const late = Promise.withResolvers<never>();
  // The promise that loses the race has nobody to catch its error.
  late.promise.catch(() => undefined);
  const fail = () => late.reject(new Error(`${name} did not start within ${startMsMax} ms`));
  const timer = setTimeout(fail, startMsMax);
  return await Promise.race([told, late.promise]).finally(() => clearTimeout(timer));
};

const end = async (child: ChildProcess, exited: Promise<unknown>): Promise<void> => {
  child.stdin?.end();
  // oxlint-disable-next-line reliability/no-short-limit -- `npm start` ends by it, within its 25 s
  const killer = setTimeout(() => killGroup(child), endMsMax);
  await exited.finally(() => clearTimeout(killer));
};

const killGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
};
