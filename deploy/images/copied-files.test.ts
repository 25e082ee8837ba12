import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { builtConsole } from "@payment-links/console/ensure-built";
import { builtDocs } from "@payment-links/docs/ensure-built";
import * as z from "zod";
import { serviceBlocks } from "../chart/service-blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const services = Object.values(serviceBlocks);

/** The Dockerfile. Its COPY instructions list the files and folders in the images. */
const dockerfile = readFileSync(join(root, "deploy/Dockerfile"), "utf8");
const copiedPaths = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
  ([, sourceList = ""]) => sourceList.split(" "),
);

/** What the context of an image build excludes and, after `!`, includes nevertheless. */
const ignoreRules = readFileSync(join(root, ".dockerignore"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

/** Returns the imports of a file: paths relative to the repository root, and package names. */
const listImports = (file: string): { files: string[]; packages: string[] } => {
  const text = readFileSync(join(root, file), "utf8");
  const importNames = [...text.matchAll(/^(?:import|export)[^;]*? from "([^"]+)";/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.startsWith("node:"));
  return {
    files: importNames
      .filter((name) => name.startsWith("."))
      .map((name) => normalize(join(dirname(file), name))),
    packages: importNames.filter((name) => !name.startsWith(".")),
  };
};

/**
 * Returns the given file, all of our files that it imports directly or indirectly, and the packages
 * that these files import.
 */
const collectImports = (file: string): { files: Set<string>; packages: Set<string> } => {
  const files = new Set([file]);
  const packages = new Set<string>();
  for (const currentFile of files) {
    const imports = listImports(currentFile);
    for (const name of imports.files) files.add(name);
    for (const name of imports.packages) packages.add(name);
  }
  return { files, packages };
};

const DependencyRecord = z.record(z.string(), z.string()).default({});
const Manifest = z.object({ dependencies: DependencyRecord, devDependencies: DependencyRecord });

const readManifest = (folder: string) =>
  Manifest.parse(JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")));

/**
 * Returns the packages in a service's image: its own dependencies and those of our packages that it
 * uses.
 */
const listInstalledPackages = (service: string): Set<string> => {
  const names = new Set<string>();
  const folders = [`services/${service}`];
  for (const folder of folders) {
    for (const name of Object.keys(readManifest(folder).dependencies)) {
      if (names.has(name)) continue;
      names.add(name);
      if (name.startsWith("@payment-links/"))
        folders.push(name.replace("@payment-links", "packages"));
    }
  }
  return names;
};

test("all files that the images copy exist", () => {
  const paths = copiedPaths.flatMap((path) =>
    path.includes("${SERVICE}")
      ? services.map((service) => path.replace("${SERVICE}", service))
      : [path],
  );
  expect(paths.length).toBeGreaterThan(4);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("the image build has every source of the console and the docs", () => {
  // The last rule that matches a path decides.
  const isIgnored = (path: string): boolean => {
    const rule = ignoreRules.findLast((line) =>
      `${path}/`.startsWith(`${line.replace(/^!/, "")}/`),
    );
    return rule !== undefined && !rule.startsWith("!");
  };
  const sources = [...builtConsole.sources, ...builtDocs.sources].map((path) =>
    relative(root, path),
  );
  expect(sources).toEqual(expect.arrayContaining(["packages/sdk/README.md"]));
  expect(sources.filter(isIgnored)).toEqual([]);
});

test("the operator's command line is copied with everything it imports", () => {
  const { files, packages } = collectImports("deploy/src/admin.ts");
  expect(copiedPaths.filter((path) => path.startsWith("deploy/src/")).toSorted()).toEqual(
    [...files].toSorted(),
  );
  for (const service of services) {
    const missing = [...packages].filter((name) => !listInstalledPackages(service).has(name));
    expect({ service, missing }).toEqual({ service, missing: [] });
  }
});

test("no image installs packages that build the console or the docs, or run a local chain", () => {
  const buildPackages = ["packages/console", "packages/docs"].flatMap((folder) =>
    Object.keys(readManifest(folder).devDependencies),
  );
  const localChains = readManifest("packages/local-chains");
  const localChainPackages = ["@payment-links/local-chains"].concat(
    Object.keys({ ...localChains.dependencies, ...localChains.devDependencies }),
  );
  // Services also import these packages: links-api renders QR codes and uses the design tokens, chains
  // derives Bitcoin addresses, and settlement-listener decodes EVM events.
  const sharedPackages = new Set([
    "@payment-links/chains",
    "@payment-links/contracts",
    "@payment-links/design",
    "@payment-links/runtime",
    "@scure/btc-signer",
    "qr",
    "viem",
    "zod",
  ]);
  const developmentPackages = [...buildPackages, ...localChainPackages].filter(
    (name) => !sharedPackages.has(name),
  );
  expect(developmentPackages).toEqual(
    expect.arrayContaining(["vite", "react", "markdown-it", "@foundry-rs/anvil", "litesvm"]),
  );
  for (const service of services) {
    const installed = listInstalledPackages(service);
    const unexpectedPackages = developmentPackages.filter((name) => installed.has(name));
    expect({ service, found: unexpectedPackages }).toEqual({ service, found: [] });
  }
  // If npm finds this workspace, it installs the packages of the local chains for
  // settlement-listener, although only its tests use them.
  expect(ignoreRules).toContain("packages/local-chains");
});
