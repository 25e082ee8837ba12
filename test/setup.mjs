// Prepares a run of tests: builds the console and the docs, and starts servers.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { printToStderr, startNode, waitForExit } from "./children.mjs";
import { root } from "./jest/jest.mjs";
import { servers as allServers } from "./tiers.mjs";

// A build can take minutes on a slow machine. A build that takes longer than this hangs.
const buildMsMax = 600_000;

/**
 * Builds a clone's console and docs before the tests run, so that two tests do not build them at the
 * same time.
 */
export const buildConsole = async ({ env }, cloneRoot = root) => {
  const options = { env, cwd: cloneRoot, stdio: "inherit" };
  for (const name of ["console", "docs"]) {
    const child = startNode([join(cloneRoot, `packages/${name}/ensure.ts`)], options);
    if ((await waitForExit(child, buildMsMax)) !== 0)
      throw new Error(`could not build the ${name}`);
  }
};

/** Starts the named servers, runs the task with a promise of their URLs, and then stops them. */
export const withServers = async ({ env }, serverNames, task) => {
  const serverTitles = serverNames.map((name) => allServers[name].title);
  printToStderr(`servers: ${serverTitles.join(", ") || "none"}`);
  // Removes inherited addresses of servers that are not named.
  const serverVariables = new Set([
    "DATABASE_URL",
    "KAFKA_BROKERS",
    "KAFKA_SASL_BROKERS",
    "REDIS_URL",
    "CHROMIUM_URL",
  ]);
  const baseEnv = Object.fromEntries(
    Object.entries(env).filter(([name]) => !serverVariables.has(name)),
  );
  if (serverNames.length === 0) return await task(baseEnv);
  const startedServers = startServers(env, serverNames);
  try {
    return await task(startedServers.urls.then((urls) => ({ ...baseEnv, ...urls })));
  } finally {
    await startedServers.stop();
  }
};

/**
 * Starts the process that runs the servers. It stops the servers when its IPC channel closes, even
 * if this process crashes.
 */
const startServers = (env, serverNames) => {
  const child = startNode([join(root, "test/servers/main.ts"), ...serverNames], {
    env,
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const urls = new Promise((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line)));
    child.exited.then(() => reject(new Error("the test servers did not start")));
  });
  // Prevents an unhandled rejection before a caller awaits it.
  urls.catch(() => undefined);
  const stop = async () => {
    if (child.connected) child.disconnect();
    await child.exited;
  };
  return { urls, stop };
};
