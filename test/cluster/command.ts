import { spawn } from "node:child_process";
import { once } from "node:events";

/** An error for a command that failed or timed out. The message contains the output. */
class CommandFailedError extends Error {}

const outputCharsMax = 2_000_000;

type CommandOptions = { timeoutMs: number; input?: string };

/**
 * Runs a command and returns its stdout. If the command fails, the error contains stdout and
 * stderr.
 */
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
  // A command can exit without reading its input. Its exit code then shows the failure.
  child.stdin.on("error", () => {});
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
