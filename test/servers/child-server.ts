import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";

/** Options that every test server accepts. */
export type ServerContext = {
  /** The directory for the server's files. It must not exist yet. */
  readonly directory: string;
  /** The address of this machine on which the server listens. The default is loopback. */
  readonly host?: string;
  /** A function that receives progress and error messages. */
  readonly report: (line: string) => void;
  /** A signal that aborts a start in progress. */
  readonly signal: AbortSignal;
};

/** A server that is ready. */
export type RunningServer = {
  readonly url: string;
  /** Additional addresses of the server, keyed by the environment variable that tests read. */
  readonly extraUrls?: Readonly<Record<string, string>>;
  /** Stops the server. Resolves when it has exited. Further calls do nothing. */
  readonly stop: () => Promise<void>;
  /**
   * Stops the server gracefully without deleting its data. Returns a function that restarts it at
   * the same address.
   */
  readonly stopTemporarily: () => Promise<() => Promise<void>>;
};

/** Starts a server. Resolves when it is ready. */
export type StartServer = (context: ServerContext) => Promise<RunningServer>;

/** A program that is ready when it prints a line that contains `readyText`. */
export type ServerCommand = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly readyText: string;
  readonly readyMsMax: number;
};

const stopMsMax = 120_000;
const tailLines = 20;
const startAttemptsMax = 3;

/** Runs a server as a child process. Resolves when it reports that it is ready. */
export const runServer = async (
  command: ServerCommand,
  context: ServerContext,
): Promise<Omit<RunningServer, "url" | "extraUrls">> => {
  let stop = await launchServer(command, context);
  return {
    stop: () => stop(),
    stopTemporarily: async () => {
      await stop();
      return async () => {
        stop = await launchServer(command, context);
      };
    },
  };
};

const launchServer = async (
  { name, command, args, readyText, readyMsMax }: ServerCommand,
  { directory, report, signal }: ServerContext,
): Promise<RunningServer["stop"]> => {
  const child = spawn(command, args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const readyPromise = Promise.withResolvers<void>();
  const lastLines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on("line", (line) => {
      lastLines.push(line);
      if (lastLines.length > tailLines) lastLines.shift();
      if (line.includes(readyText)) readyPromise.resolve();
    });
  }
  const failStart = (description: string, cause?: unknown) =>
    readyPromise.reject(
      new Error(`${name} ${description}; its last output:\n${lastLines.join("\n")}`, { cause }),
    );
  const timer = setTimeout(() => failStart(`was not ready within ${readyMsMax} ms`), readyMsMax);
  signal.addEventListener("abort", () => failStart("was canceled"));
  child.once("error", (cause) => failStart("did not start", cause));
  child.once("close", () => failStart("exited before it was ready"));

  let isStopping = false;
  const stop = async () => {
    isStopping = true;
    child.kill("SIGTERM");
    const killTimer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
    await closed;
    clearTimeout(killTimer);
  };
  try {
    await readyPromise.promise;
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  child.once("close", (code, signalName) => {
    if (!isStopping)
      report(`${name} exited unexpectedly (${signalName ?? code})\n${lastLines.join("\n")}`);
  });
  return stop;
};

/**
 * Starts a server on free loopback ports. Another program can take a port before the server listens
 * on it, so a failed start is retried on other ports.
 */
export const startOnFreePorts = async (
  portCount: number,
  start: (ports: readonly number[]) => Promise<RunningServer>,
): Promise<RunningServer> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await findFreePorts(portCount));
    } catch (error) {
      const isPortTaken = /already in use|already allocated/i.test(String(error));
      if (!isPortTaken || attempt === startAttemptsMax) throw error;
    }
  }
};
