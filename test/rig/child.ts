import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { waitUntil } from "@payment-links/runtime/testing";
import { stopChild, isRunning } from "@payment-links/runtime/testing/stop-child";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";

export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** One of our programs in a separate process, as an operator would run it. */
export type Child = {
  readonly pid: number;
  /** Returns everything that the process has written so far to stdout and stderr. */
  output(): string;
  isRunning(): boolean;
  /** Sends a signal and waits for the exit. Returns the exit code, or null if a signal ended the process. */
  terminate(signal: NodeJS.Signals): Promise<number | null>;
};

const outputCharsMax = 4_000_000;

/** Starts a TypeScript program with the current Node executable. */
export const startChild = (script: string, env: Record<string, string>, args: string[] = []) => {
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--disable-warning=TimeoutNegativeWarning",
      script,
      ...args,
    ],
    { cwd: projectRoot, env: { ...getInheritedEnv(), ...env }, stdio: "pipe" },
  );
  return trackOutput(child);
};

const trackOutput = (child: ChildProcess): Child => {
  let output = "";
  const appendOutput = (chunk: Buffer) => {
    output = (output + chunk.toString("utf8")).slice(-outputCharsMax);
  };
  child.stdout?.on("data", appendOutput);
  child.stderr?.on("data", appendOutput);
  return {
    pid: child.pid ?? -1,
    output: () => output,
    isRunning: () => isRunning(child),
    terminate: (signal) => stopChild(child, signal),
  };
};

/**
 * Waits until a program reports that it is listening. Throws an error with its output if it exits
 * first.
 */
export const waitUntilListening = (child: Child) =>
  waitUntil("the program listens", () => {
    if (!child.isRunning()) throw new Error(child.output());
    return child.output().includes("listening");
  });

/**
 * Waits until a process's internal port reports ready. Throws an error with its output if it exits
 * first.
 */
export const waitUntilReady = (child: Child, internalPort: number) =>
  waitUntil(`the process on port ${internalPort} is ready`, async () => {
    if (!child.isRunning())
      throw new Error(`the process exited before it was ready:\n${child.output().slice(-4000)}`);
    return isReady(internalPort);
  });

/** Returns true if a process's internal port reports ready. */
export const isReady = async (internalPort: number): Promise<boolean> => {
  try {
    const response = await request(`http://127.0.0.1:${internalPort}/readyz`);
    await response.body.dump();
    return response.statusCode === 200;
  } catch {
    return false;
  }
};
