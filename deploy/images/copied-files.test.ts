import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import * as z from "zod";
import { serviceBlocks } from "../chart/service-blocks.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const services = Object.values(serviceBlocks);

/** Its instructions say which files and folders of the project the images take. */
const dockerfile = readFileSync(join(root, "deploy/Dockerfile"), "utf8");
const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = ""]) =>
  sources.split(" "),
);

/** What a file imports: paths from the project's root, and names of packages. */
const importsOf = (file: string): { files: string[]; packages: string[] } => {
  const text = readFileSync(join(root, file), "utf8");
  const all = [...text.matchAll(/^(?:import|export)[^;]*? from "([^"]+)";/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => !name.startsWith("node:"));
  return {
    files: all
      .filter((name) => name.startsWith("."))
      .map((name) => normalize(join(dirname(file), name))),
    packages: all.filter((name) => !name.startsWith(".")),
  };
};

/** A file and all of ours that it imports, with the packages that they import. */
const closureOf = (file: string): { files: Set<string>; packages: Set<string> } => {
  const files = new Set([file]);
  const packages = new Set<string>();
  for (const one of files) {
    const found = importsOf(one);
    for (const name of found.files) files.add(name);
    for (const name of found.packages) packages.add(name);
  }
  return { files, packages };
};

const Dependencies = z.record(z.string(), z.string()).default({});
const Manifest = z.object({ dependencies: Dependencies, devDependencies: Dependencies });

const manifestOf = (folder: string) =>
  Manifest.parse(JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")));

/** The packages that a service's image has of its own and by our packages' word. */
const installedFor = (service: string): Set<string> => {
  const names = new Set<string>();
  const folders = [`services/${service}`];
  for (const folder of folders) {
    for (const name of Object.keys(manifestOf(folder).dependencies)) {
      if (names.has(name)) continue;
      names.add(name);
      if (name.startsWith("@payment-links/"))
        folders.push(name.replace("@payment-links", "packages"));
    }
  }
  return names;
};

test("all that the images copy is there", () => {
  const paths = copied.flatMap((path) =>
    path.includes("${SERVICE}")
      ? services.map((service) => path.replace("${SERVICE}", service))
      : [path],
  );
  expect(paths.length).toBeGreaterThan(4);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("the operator's command line is copied with all that it imports", () => {
  const { files, packages } = closureOf("deploy/src/admin.ts");
  expect(copied.filter((path) => path.startsWith("deploy/src/")).toSorted()).toEqual(
    [...files].toSorted(),
  );
  for (const service of services) {
    const missing = [...packages].filter((name) => !installedFor(service).has(name));
    expect({ service, missing }).toEqual({ service, missing: [] });
  }
});

test("no image installs what builds the console or runs a local chain", () => {
  const builds = Object.keys(manifestOf("packages/console").devDependencies);
  const chains = Object.keys(manifestOf("services/settlement-listener").devDependencies);
  // Services import these themselves: links-api draws QR codes, contracts derives Bitcoin addresses, and all
  // of them limit rates.
  const shared = new Set(["qr", "@scure/btc-signer", "@payment-links/rate-limit"]);
  const kept = [...builds, ...chains].filter((name) => !shared.has(name));
  expect(kept).toEqual(expect.arrayContaining(["vite", "react", "@foundry-rs/anvil", "litesvm"]));
  for (const service of services) {
    const installed = installedFor(service);
    const found = kept.filter((name) => installed.has(name));
    expect({ service, found }).toEqual({ service, found: [] });
  }
});
