// Prepares a run of tests: builds the console and starts servers.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endWithin, report, start } from "./children.mjs";
import { root } from "./jest/jest.mjs";
import { servers as allServers } from "./tiers.mjs";

// A slow machine may take minutes; a build that takes longer hangs.
const buildMsMax = 600_000;

/** Builds the console of a clone before any test, so that no two tests build it at the same time. */
export const buildConsole = async ({ env }, clone = root) => {
  const options = { env, cwd: clone, stdio: "inherit" };
  const child = start([join(clone, "packages/console/ensure.ts")], options);
  if ((await endWithin(child, buildMsMax)) !== 0) throw new Error("the console was not built");
};

/** Starts the named servers, reports their names, and stops them after the work. */
export const withServers = async ({ env }, names, work) => {
  const titles = names.map((name) => allServers[name].title);
  report(`servers: ${titles.join(", ") || "none"}`);
  // Hides the address of a server that is given but not named.
  const hidden = new Set([
    "DATABASE_URL",
    "KAFKA_BROKERS",
    "KAFKA_SASL_BROKERS",
    "REDIS_URL",
    "CHROMIUM_URL",
  ]);
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
  if (names.length === 0) return await work(rest);
  const servers = startServers(env, names);
  try {
    return await work(servers.urls.then((urls) => ({ ...rest, ...urls })));
  } finally {
    await servers.stop();
  }
};

/** Starts the process that runs the servers. It stops them when its channel closes, even by a crash. */
const startServers = (env, names) => {
  const child = start([join(root, "test/servers/main.ts"), ...names], {
    env,
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const urls = new Promise((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line)));
    child.gone.then(() => reject(new Error("the servers for the tests did not start")));
  });
  // Prevents an unhandled rejection before a caller awaits it.
  urls.catch(() => undefined);
  const stop = async () => {
    if (child.connected) child.disconnect();
    await child.gone;
  };
  return { urls, stop };
};
