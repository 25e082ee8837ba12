import { spawn } from "node:child_process";
import { once } from "node:events";
import { findTool } from "../rig/find-tool.ts";

/** The path of Prometheus's promtool, or undefined if it is not installed. */
const promtool = findTool("promtool");

const runMsMax = 60_000;

/** Runs promtool and returns its exit code and its complete output. */
export const runPromtool = async (
  args: readonly string[],
  input = "",
): Promise<{ code: number | null; output: string }> => {
  if (promtool === undefined) throw new Error("promtool is not installed");
  const child = spawn(promtool, args, { timeout: runMsMax, stdio: "pipe" });
  let output = "";
  const appendOutput = (chunk: Buffer) => {
    output += chunk.toString("utf8");
  };
  child.stdout.on("data", appendOutput);
  child.stderr.on("data", appendOutput);
  child.stdin.end(input);
  await once(child, "close");
  return { code: child.exitCode, output };
};
