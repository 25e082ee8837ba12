import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { projectRoot } from "./rig/child.ts";
import { findFreePorts } from "./rig/free-port.ts";

const installMsMax = 900_000;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "payment-links-installs-"));
  // If root starts it, Postgres runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A fresh clone: all files but what was installed, built or stored. */
const makeClone = async (name: string): Promise<string> => {
  const clone = join(folder, name);
  await mkdir(clone);
  const kept = ["node_modules", ".data", ".git", ".turbo", "dist"].map((one) => `--exclude=${one}`);
  const copy = `tar -c ${kept.join(" ")} . | tar -x -C "${clone}"`;
  expect(spawnSync("sh", ["-c", copy], { cwd: projectRoot }).status).toBe(0);
  await writeFile(join(clone, "version.mjs"), "process.stdout.write(process.version);");
  return clone;
};

type Command = { omitDev?: boolean; env?: Record<string, string> };

/** What every command does first: here, before a script that prints the version of Node. */
const spawnCommand = (clone: string, { omitDev = false, env = {} }: Command): ChildProcess => {
  const words = [...(omitDev ? ["--omit=dev"] : []), "version.mjs"];
  return spawn(process.execPath, ["deploy/with-node24.mjs", ...words], {
    cwd: clone,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
};

const runCommand = async (clone: string, command: Command): Promise<string> => {
  const child = spawnCommand(clone, command);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.on("data", (chunk: Buffer) => (said[name] += chunk.toString()));
  }
  const [code] = (await once(child, "close")) as [number | null];
  const version = expect.stringMatching(/^v24\./);
  expect({ code, ...said }).toEqual({ code: 0, stdout: version, stderr: said.stderr });
  return said.stderr;
};

/** Every file that an install has written, in each workspace too. */
const listInstalled = async (clone: string): Promise<string[]> => {
  const entries = await readdir(clone, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(clone.length + 1))
    .filter((path) => path.includes("node_modules/") && !path.startsWith("node_modules/."))
    .toSorted();
};

const testTools = ["jest", "knip", "oxlint", "playwright-core", "turbo", "typescript-compiler"];
const isInstalled = (clone: string) => (name: string) =>
  existsSync(join(clone, "node_modules", name));

describe("a fresh clone", () => {
  let clone = "";
  let whole: string[] = [];
  beforeAll(async () => {
    clone = await makeClone("fresh");
  });

  test(
    "installs for npm start no test tool, and runs with its chains and its console",
    async () => {
      const [port, internalPort, evmPort] = (await findFreePorts(3)).map(String);
      const env = { PORT: port, INTERNAL_PORT: internalPort, DEVNET_PORT: evmPort };
      const child = spawn("npm", ["start"], {
        cwd: clone,
        env: { ...process.env, ...env },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
      }
      const isReady = () => output.includes("Payment Links is ready") || child.exitCode !== null;
      await waitUntil("the start", isReady, installMsMax);
      try {
        expect(output).toMatch(/installing the packages that npm start runs, this once/);
        expect(output).toMatch(/Payment Links is ready/);
        expect(output.match(/\(chain (31337|local-solana|local-tron)\)/g)).toHaveLength(3);
        const page = await fetch(`http://127.0.0.1:${port}/console`);
        expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("assets/")]);
      } finally {
        const ended = once(child, "exit");
        if (child.exitCode === null) process.kill(-(child.pid ?? 0), "SIGINT");
        await ended;
      }
      expect(testTools.filter(isInstalled(clone))).toEqual([]);
    },
    installMsMax,
  );

  test(
    "adds the rest for another command, with NODE_ENV=production too",
    async () => {
      const before = await listInstalled(clone);
      await runCommand(clone, { env: { NODE_ENV: "production" } });
      whole = await listInstalled(clone);
      expect(testTools.filter(isInstalled(clone))).toEqual(testTools);
      const now = new Set(whole);
      expect(before.filter((path) => !now.has(path))).toEqual([]);
    },
    installMsMax,
  );

  test(
    "keeps it all when npm start runs again, and when npm start updates a package",
    async () => {
      expect(await runCommand(clone, { omitDev: true })).toBe("");
      expect(await listInstalled(clone)).toEqual(whole);
      const record = join(clone, "node_modules/.package-lock.json");
      const written = JSON.parse(await readFile(record, "utf8")) as { packages: object };
      Object.assign(written.packages, { "node_modules/pg": { version: "8.0.0" } });
      await writeFile(record, JSON.stringify(written));
      await rm(join(clone, "node_modules/pg/lib"), { recursive: true });
      expect(await runCommand(clone, { omitDev: true })).toContain("installing");
      expect(await listInstalled(clone)).toEqual(whole);
    },
    installMsMax,
  );

  test(
    "repairs an install that was killed, for two commands at once",
    async () => {
      const killed = await makeClone("killed");
      const child = spawnCommand(killed, {});
      const ended = once(child, "exit");
      const modules = join(killed, "node_modules");
      const isUnderWay = () => existsSync(modules) && readdirSync(modules).length > 100;
      await waitUntil("the install is under way", isUnderWay, installMsMax);
      process.kill(-(child.pid ?? 0), "SIGKILL");
      await ended;
      // What a kill may leave of a package: its name and version, and no code.
      const { version } = JSON.parse(
        await readFile(join(clone, "node_modules/knip/package.json"), "utf8"),
      ) as { version: string };
      await rm(join(modules, "knip"), { recursive: true, force: true });
      await mkdir(join(modules, "knip"));
      await writeFile(
        join(modules, "knip/package.json"),
        JSON.stringify({ name: "knip", version }),
      );
      await Promise.all([runCommand(killed, { omitDev: true }), runCommand(killed, {})]);
      expect(await listInstalled(killed)).toEqual(whole);
    },
    installMsMax,
  );
});

describe("the images", () => {
  test(
    "install what their service runs, and nothing that builds the console or runs a chain",
    async () => {
      const dockerfile = await readFile(join(projectRoot, "deploy/Dockerfile"), "utf8");
      const command = /^RUN (npm install[^&]*--workspace=services\/\$\{SERVICE\})/m.exec(
        dockerfile,
      );
      for (const service of ["links-api", "settlement-listener"]) {
        const clone = await makeClone(service);
        const copied = new Set(
          "package.json package-lock.json .npmrc packages services".split(" "),
        );
        for (const name of await readdir(clone)) {
          if (!copied.has(name)) await rm(join(clone, name), { recursive: true });
        }
        for (const name of await readdir(join(clone, "services"))) {
          if (name !== service) await rm(join(clone, "services", name), { recursive: true });
        }
        await rm(join(clone, "packages/sdk"), { recursive: true });
        const env = { ...process.env, SERVICE: service };
        const { status, stderr } = spawnSync("sh", ["-c", `exec ${command?.[1] ?? "false"}`], {
          cwd: clone,
          env,
          encoding: "utf8",
          // Jest's own limit cannot end a call that blocks the process.
          timeout: installMsMax,
        });
        expect({ status, stderr }).toMatchObject({ status: 0 });
        const has = isInstalled(clone);
        expect(["express", "viem", "zod"].filter((name) => !has(name))).toEqual([]);
        const absent = [
          "@foundry-rs",
          "@solana",
          "litesvm",
          "node",
          "react",
          "typescript-compiler",
          "vite",
        ];
        expect({ service, found: absent.filter(has) }).toEqual({ service, found: [] });
      }
    },
    installMsMax,
  );
});
