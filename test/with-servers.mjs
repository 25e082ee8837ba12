// What a run of tests needs before the first of them: the servers that they ask for, and the console.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { endWithin, report, start } from "./children.mjs";
import { root } from "./jest/jest.mjs";
import { servers as allServers } from "./tiers.mjs";

// What hangs is ended. A machine of a third of the usual speed is only slow.
const buildMsMax = 600_000;

/** Before any test: what several would build at once stands in none of their ways then. */
export const buildConsole = async ({ env }) => {
  const child = start([join(root, "packages/console/ensure.ts")], { env, stdio: "inherit" });
  if ((await endWithin(child, buildMsMax)) !== 0) throw new Error("the console was not built");
};

/** Starts the named servers, says which, and ends them after the work. */
export const withServers = async ({ env }, names, work) => {
  const titles = names.map((name) => allServers[name].title);
  report(`servers: ${titles.join(", ") || "none"}`);
  // A server that is given but not asked for is hidden from the tests, too.
  const hidden = new Set(["DATABASE_URL", "KAFKA_BROKERS", "KAFKA_SASL_BROKERS", "REDIS_URL"]);
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)));
  if (names.length === 0) return await work(rest);
  const servers = startServers(env, names);
  try {
    return await work(servers.urls.then((urls) => ({ ...rest, ...urls })));
  } finally {
    await servers.stop();
  }
};

/** The process that runs the servers ends them when we let go of it, even if we are killed. */
const startServers = (env, names) => {
  const child = start([join(root, "test/servers/main.ts"), ...names], {
    env,
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const urls = new Promise((resolve, reject) => {
    createInterface(child.stdout).once("line", (line) => resolve(JSON.parse(line)));
    child.gone.then(() => reject(new Error("the servers for the tests did not start")));
  });
  // Whoever awaits it gets the error; until then nobody would catch it.
  urls.catch(() => undefined);
  const stop = async () => {
    if (child.connected) child.disconnect();
    await child.gone;
  };
  return { urls, stop };
};
