import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { waitUntil } from "@payment-links/runtime/testing";
import { endChild, isRunning } from "@payment-links/runtime/testing/end-child";
import { inheritedEnv } from "@payment-links/runtime/testing/inherited-env";

/** The tiny service in a process of its own. */
export type Tiny = {
  pid: number;
  port: number;
  internalPort: number;
  isRunning(): boolean;
  /** The lines of its log that hold this text. */
  linesWith(text: string): readonly string[];
  /** The answer of a probe, such as `200 ready`; undefined if there is none within the time. */
  probe(path: string, msMax?: number): Promise<string | undefined>;
  /** Tells it to stop, and answers its exit code; null if a signal had to end it. */
  stop(): Promise<number | null>;
};

const script = fileURLToPath(new URL("./tiny-process.ts", import.meta.url));
const probeMsMax = 60_000;

const probe = async (
  port: number,
  path: string,
  msMax = probeMsMax,
): Promise<string | undefined> => {
  try {
    const signal = AbortSignal.timeout(msMax);
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal });
    return `${answer.status} ${(await answer.text()).trim()}`;
  } catch {
    return undefined;
  }
};

/** Starts it on the given ports, and resolves once it lives; it need not be ready. */
export const startTiny = async (
  environment: Record<string, string>,
  { port, internalPort }: { port: number; internalPort: number },
): Promise<Tiny> => {
  const ports = { PORT: String(port), INTERNAL_PORT: String(internalPort) };
  const env = { ...inheritedEnv(), ...environment, ...ports };
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script], { env });
  let output = "";
  const keep = (chunk: Buffer) => void (output += chunk.toString());
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const tiny: Tiny = {
    pid: child.pid ?? -1,
    port,
    internalPort,
    isRunning: () => isRunning(child),
    linesWith: (text) => output.split("\n").filter((line) => line.includes(text)),
    probe: (path, msMax) => probe(internalPort, path, msMax),
    stop: () => endChild(child),
  };
  await waitUntil("the process lives", async () => {
    if (!isRunning(child)) throw new Error(`the process ended: ${output}`);
    return (await tiny.probe("/livez")) !== undefined;
  });
  return tiny;
};
