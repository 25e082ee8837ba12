import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { waitUntil } from "@payment-links/runtime/testing";
import { endChild, isRunning } from "@payment-links/runtime/testing/end-child";
import { inheritedEnv } from "@payment-links/runtime/testing/inherited-env";

export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** A program of ours in a process of its own, as an operator would run it. */
export type Child = {
  readonly pid: number;
  /** What it has written so far, on both streams. */
  output(): string;
  isRunning(): boolean;
  /** Sends a signal and waits for the end; answers the exit code, or null if a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

const outputCharsMax = 4_000_000;

/** Starts a TypeScript program with this very Node. */
export const startChild = (script: string, env: Record<string, string>, args: string[] = []) => {
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--disable-warning=TimeoutNegativeWarning",
      script,
      ...args,
    ],
    { cwd: projectRoot, env: { ...inheritedEnv(), ...env }, stdio: "pipe" },
  );
  return watch(child);
};

const watch = (child: ChildProcess): Child => {
  let output = "";
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString("utf8")).slice(-outputCharsMax);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return {
    pid: child.pid ?? -1,
    output: () => output,
    isRunning: () => isRunning(child),
    end: (signal) => endChild(child, signal),
  };
};

/** Waits until a program says that it listens; fails with its output if it ends before that. */
export const waitListening = (child: Child) =>
  waitUntil("a program listens", () => {
    if (!child.isRunning()) throw new Error(child.output());
    return child.output().includes("listening");
  });

/** Waits until a process's internal port answers that it is ready. */
export const waitReady = (child: Child, internalPort: number) =>
  waitUntil(`ready on port ${internalPort}`, async () => {
    if (!child.isRunning()) throw new Error(`it ended instead:\n${child.output().slice(-4000)}`);
    return isReady(internalPort);
  });

/** Whether a process's internal port answers that it is ready. */
export const isReady = async (internalPort: number): Promise<boolean> => {
  try {
    const answer = await request(`http://127.0.0.1:${internalPort}/readyz`);
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    return false;
  }
};
