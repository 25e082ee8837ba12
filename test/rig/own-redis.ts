import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { findRedisProgram } from "../servers/redis.ts";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";

/** A Redis for a single test. The test can kill it. Its content is then lost. */
type OwnRedis = {
  url: string;
  port: number;
  /** Kills Redis immediately with SIGKILL. All data is lost. */
  kill(): Promise<void>;
  /** Starts an empty Redis at the same address. */
  start(): Promise<void>;
  close(): Promise<void>;
};

/** Starts an in-memory Redis on a free loopback port. */
export const startOwnRedis = async (): Promise<OwnRedis> => {
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const { signal } = new AbortController();
  const program = await findRedisProgram({ directory: "", report, signal });
  if (program === undefined)
    throw new Error("starting a separate Redis requires redis-server or Maven");
  const [port = 0] = await findFreePorts(1);
  let child: ChildProcess | undefined;
  const start = async () => {
    const settings = ["--port", String(port), "--bind", "127.0.0.1", "--save", ""];
    child = spawn(program, [...settings, "--appendonly", "no"], { stdio: "ignore" });
    await waitUntil("the test's own Redis listens", () => isListening(port));
  };
  const stopChild = async (signal: NodeJS.Signals) => {
    const stoppedChild = child;
    child = undefined;
    if (
      stoppedChild === undefined ||
      stoppedChild.exitCode !== null ||
      stoppedChild.signalCode !== null
    )
      return;
    const exited = once(stoppedChild, "exit");
    stoppedChild.kill(signal);
    await exited;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill: () => stopChild("SIGKILL"),
    start,
    close: () => stopChild("SIGTERM"),
  };
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
