import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { waitUntil } from "@payment-links/runtime/testing";
import { stopChild, isRunning } from "@payment-links/runtime/testing/stop-child";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";

/** The tiny service in its own process. */
export type TinyProcess = {
  pid: number;
  port: number;
  internalPort: number;
  isRunning(): boolean;
  /** Returns the log lines that contain this text. */
  findLogLines(text: string): readonly string[];
  /** Returns the response to a probe, such as `200 ready`, or undefined if none arrives in time. */
  probe(path: string, timeoutMs?: number): Promise<string | undefined>;
  /** Stops the process and returns its exit code, or null if a signal ended it. */
  stop(): Promise<number | null>;
};

const scriptPath = fileURLToPath(new URL("./tiny-process.ts", import.meta.url));
const probeTimeoutMs = 60_000;

const probe = async (
  port: number,
  path: string,
  timeoutMs = probeTimeoutMs,
): Promise<string | undefined> => {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal });
    return `${response.status} ${(await response.text()).trim()}`;
  } catch {
    return undefined;
  }
};

/**
 * Starts the process on the given ports. Resolves once the process is alive, which can be before it
 * is ready.
 */
export const startTinyProcess = async (
  environment: Record<string, string>,
  { port, internalPort }: { port: number; internalPort: number },
): Promise<TinyProcess> => {
  const ports = { PORT: String(port), INTERNAL_PORT: String(internalPort) };
  const env = { ...getInheritedEnv(), ...environment, ...ports };
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", scriptPath], {
    env,
  });
  let output = "";
  const appendOutput = (chunk: Buffer) => void (output += chunk.toString());
  child.stdout.on("data", appendOutput);
  child.stderr.on("data", appendOutput);
  const tiny: TinyProcess = {
    pid: child.pid ?? -1,
    port,
    internalPort,
    isRunning: () => isRunning(child),
    findLogLines: (text) => output.split("\n").filter((line) => line.includes(text)),
    probe: (path, timeoutMs) => probe(internalPort, path, timeoutMs),
    stop: () => stopChild(child),
  };
  await waitUntil("the process is alive", async () => {
    if (!isRunning(child)) throw new Error(`the process ended: ${output}`);
    return (await tiny.probe("/livez")) !== undefined;
  });
  return tiny;
};
