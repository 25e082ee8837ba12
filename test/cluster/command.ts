import { spawn } from "node:child_process";
import { once } from "node:events";

/** A command that failed or did not end in time; the message contains its output. */
class CommandFailedError extends Error {}

const outputCharsMax = 2_000_000;

type Options = { timeoutMs: number; input?: string };

/** Runs a command to its end and answers its stdout. Throws with both streams if it fails. */
export const runCommand = async (
  command: string,
  args: readonly string[],
  { timeoutMs, input = "" }: Options,
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
  child.stdin.on("error", () => {}); // One that does not read tells so by its exit code.
  child.stdin.end(input);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  try {
    await once(child, "close");
  } finally {
    clearTimeout(timer);
  }
  if (child.exitCode === 0) return stdout;
  const how = isLate ? `took longer than ${timeoutMs} ms` : `ended with ${child.exitCode}`;
  const said = `${stdout}${stderr}`.slice(-8_000);
  throw new CommandFailedError(`${command} ${args.slice(0, 6).join(" ")} ${how}\n${said}`);
};
