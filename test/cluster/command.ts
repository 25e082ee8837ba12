import { spawn } from "node:child_process";
import { once } from "node:events";

/** A command that failed or did not end in time. The message contains its output. */
class CommandFailedError extends Error {}

const outputCharsMax = 2_000_000;

type CommandOptions = { timeoutMs: number; input?: string };

/** Runs a command to its end and returns its stdout. Throws with both streams if it fails. */
export const runCommand = async (
  command: string,
  args: readonly string[],
  { timeoutMs, input = "" }: CommandOptions,
): Promise<string> => {
  const child = spawn(command, args, { stdio: "pipe" });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout = (stdout + chunk.toString("utf8")).slice(-outputCharsMax);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-outputCharsMax);
  });
  child.stdin.on("error", () => {}); // A command that does not read its input reports that by its exit code.
  child.stdin.end(input);
  let hasTimedOut = false;
  const timer = setTimeout(() => {
    hasTimedOut = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  try {
    await once(child, "close");
  } finally {
    clearTimeout(timer);
  }
  if (child.exitCode === 0) return stdout;
  const reason = hasTimedOut ? `took longer than ${timeoutMs} ms` : `exited with ${child.exitCode}`;
  const output = `${stdout}${stderr}`.slice(-8_000);
  throw new CommandFailedError(`${command} ${args.slice(0, 6).join(" ")} ${reason}\n${output}`);
};
