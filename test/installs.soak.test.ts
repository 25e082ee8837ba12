import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { projectRoot } from "./rig/child.ts";

const installMsMax = 900_000;

let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "payment-links-installs-"));
  // If root starts Postgres, Postgres runs as another user. This user needs access to the
  // directory.
  await chmod(directory, 0o755);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/**
 * Creates a fresh clone: copies all files except installed packages, build output and stored data.
 */
const createClone = async (name: string): Promise<string> => {
  const clone = join(directory, name);
  await mkdir(clone);
  const excludeOptions = ["node_modules", ".data", ".git", ".turbo", "dist"].map(
    (directoryName) => `--exclude=${directoryName}`,
  );
  const copyCommand = `tar -c ${excludeOptions.join(" ")} . | tar -x -C "${clone}"`;
  expect(spawnSync("sh", ["-c", copyCommand], { cwd: projectRoot }).status).toBe(0);
  await writeFile(join(clone, "version.mjs"), "process.stdout.write(process.version);");
  return clone;
};

type CommandOptions = { omitsDevDependencies?: boolean; env?: Record<string, string> };

/**
 * Runs the wrapper that every command uses. In this test, the wrapped script prints Node's version.
 */
const spawnCommand = (
  clone: string,
  { omitsDevDependencies = false, env = {} }: CommandOptions,
): ChildProcess => {
  const args = [...(omitsDevDependencies ? ["--omit=dev"] : []), "version.mjs"];
  return spawn(process.execPath, ["deploy/with-node24.mjs", ...args], {
    cwd: clone,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
};

const runCommand = async (clone: string, options: CommandOptions): Promise<string> => {
  const child = spawnCommand(clone, options);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.on("data", (chunk: Buffer) => (output[name] += chunk.toString()));
  }
  const [code] = (await once(child, "close")) as [number | null];
  const version = expect.stringMatching(/^v24\./);
  expect({ code, ...output }).toEqual({ code: 0, stdout: version, stderr: output.stderr });
  return output.stderr;
};

/** Returns every file that an install has written, including the files in each workspace. */
const listInstalledFiles = async (clone: string): Promise<string[]> => {
  const entries = await readdir(clone, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(clone.length + 1))
    .filter((path) => path.includes("node_modules/") && !path.startsWith("node_modules/."))
    .toSorted();
};

const testTools = ["jest", "knip", "oxlint", "playwright-core", "turbo", "typescript-compiler"];
const createInstalledCheck = (clone: string) => (name: string) =>
  existsSync(join(clone, "node_modules", name));

describe("a fresh clone", () => {
  let clone = "";
  let fullInstall: string[] = [];
  beforeAll(async () => {
    clone = await createClone("fresh");
  });

  test(
    "installs no test tool for npm start, and runs with its chains and its console",
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
      await waitUntil("the all-in-one is ready", isReady, installMsMax);
      try {
        expect(output).toMatch(/installing the packages for npm start/);
        expect(output).toMatch(/Payment Links is ready/);
        expect(output.match(/\(chain (31337|local-solana|local-tron)\)/g)).toHaveLength(3);
        const page = await fetch(`http://127.0.0.1:${port}/console`);
        expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("assets/")]);
      } finally {
        const exited = once(child, "exit");
        if (child.exitCode === null) process.kill(-(child.pid ?? 0), "SIGINT");
        await exited;
      }
      expect(testTools.filter(createInstalledCheck(clone))).toEqual([]);
    },
    installMsMax,
  );

  test(
    "installs the rest for another command, even with NODE_ENV=production",
    async () => {
      const filesBefore = await listInstalledFiles(clone);
      await runCommand(clone, { env: { NODE_ENV: "production" } });
      fullInstall = await listInstalledFiles(clone);
      expect(testTools.filter(createInstalledCheck(clone))).toEqual(testTools);
      const filesNow = new Set(fullInstall);
      expect(filesBefore.filter((path) => !filesNow.has(path))).toEqual([]);
    },
    installMsMax,
  );

  test(
    "keeps everything when npm start runs again, and when npm start updates a package",
    async () => {
      expect(await runCommand(clone, { omitsDevDependencies: true })).toBe("");
      expect(await listInstalledFiles(clone)).toEqual(fullInstall);
      const lockFile = join(clone, "node_modules/.package-lock.json");
      const lockContent = JSON.parse(await readFile(lockFile, "utf8")) as { packages: object };
      Object.assign(lockContent.packages, { "node_modules/pg": { version: "8.0.0" } });
      await writeFile(lockFile, JSON.stringify(lockContent));
      await rm(join(clone, "node_modules/pg/lib"), { recursive: true });
      expect(await runCommand(clone, { omitsDevDependencies: true })).toContain("installing");
      expect(await listInstalledFiles(clone)).toEqual(fullInstall);
    },
    installMsMax,
  );

  test(
    "repairs an install that was killed, for two commands at the same time",
    async () => {
      const killedClone = await createClone("killed");
      const child = spawnCommand(killedClone, {});
      const exited = once(child, "exit");
      const modulesDirectory = join(killedClone, "node_modules");
      const isInstalling = () =>
        existsSync(modulesDirectory) && readdirSync(modulesDirectory).length > 100;
      await waitUntil("the install has started", isInstalling, installMsMax);
      process.kill(-(child.pid ?? 0), "SIGKILL");
      await exited;
      // What a killed install can leave of a package: its name and version without code.
      const { version } = JSON.parse(
        await readFile(join(clone, "node_modules/knip/package.json"), "utf8"),
      ) as { version: string };
      await rm(join(modulesDirectory, "knip"), { recursive: true, force: true });
      await mkdir(join(modulesDirectory, "knip"));
      await writeFile(
        join(modulesDirectory, "knip/package.json"),
        JSON.stringify({ name: "knip", version }),
      );
      await Promise.all([
        runCommand(killedClone, { omitsDevDependencies: true }),
        runCommand(killedClone, {}),
      ]);
      expect(await listInstalledFiles(killedClone)).toEqual(fullInstall);
    },
    installMsMax,
  );
});

describe("the container images", () => {
  test(
    "install what their service runs, and nothing that builds the console or runs a chain",
    async () => {
      const dockerfile = await readFile(join(projectRoot, "deploy/Dockerfile"), "utf8");
      const installCommand = /^RUN (if test [^]*?--workspace=services\/\$\{SERVICE\})/m.exec(
        dockerfile,
      );
      const ignoredPaths = await readFile(join(projectRoot, ".dockerignore"), "utf8");
      const ignoredPackages = ignoredPaths.match(/^packages\/.+$/gm) ?? [];
      for (const service of ["links-api", "settlement-listener"]) {
        const clone = await createClone(service);
        const copiedNames = new Set(
          "package.json package-lock.json .npmrc packages services".split(" "),
        );
        for (const name of await readdir(clone)) {
          if (!copiedNames.has(name)) await rm(join(clone, name), { recursive: true });
        }
        for (const name of await readdir(join(clone, "services"))) {
          if (name !== service) await rm(join(clone, "services", name), { recursive: true });
        }
        for (const path of ignoredPackages) await rm(join(clone, path), { recursive: true });
        const env = { ...process.env, SERVICE: service };
        // A time limit ends only the process that was started.
        const script = (installCommand?.[1] ?? "false").replace("npm install", "exec npm install");
        const { status, stderr } = spawnSync("sh", ["-c", script], {
          cwd: clone,
          env,
          encoding: "utf8",
          // Jest's timeout cannot interrupt a call that blocks the process.
          timeout: installMsMax,
        });
        expect({ status, stderr }).toMatchObject({ status: 0 });
        const isInstalledHere = createInstalledCheck(clone);
        expect(["express", "viem", "zod"].filter((name) => !isInstalledHere(name))).toEqual([]);
        const absentPackages = [
          "@foundry-rs",
          "@solana",
          "litesvm",
          "node",
          "react",
          "typescript-compiler",
          "vite",
        ];
        expect({ service, found: absentPackages.filter(isInstalledHere) }).toEqual({
          service,
          found: [],
        });
      }
    },
    installMsMax,
  );
});
