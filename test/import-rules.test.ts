import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { updateDependencyCharts } from "./imports/dependency-chart.ts";
import { packages, serviceLayers } from "./imports/import-rules.ts";

const linksApi = "services/links-api/src";
const authKeys = "services/auth-keys/src";
const settlementListener = "services/settlement-listener/src";
const webhookDispatcher = "services/webhook-dispatcher/src";
const unknownLayer = `${linksApi}/unlisted`;

const violations: [string, string, string][] = [
  ["domain imports the store", `${linksApi}/domain`, `import "../store/links.ts";`],
  ["domain imports an SQL library", `${linksApi}/domain`, `import "slonik";`],
  ["domain imports the bus", `${authKeys}/domain`, `import "@payment-links/bus";`],
  ["domain imports node:fs", `${settlementListener}/domain`, `import "node:fs";`],
  [
    "domain re-exports a type of the store",
    `${linksApi}/domain`,
    `import type * as x from "../store/x.ts"; export type { x };`,
  ],
  [
    "domain uses an inline import of a store type",
    `${linksApi}/domain`,
    `export type X = import("../store/x.ts").X;`,
  ],
  ["the guard imports delivery", `${webhookDispatcher}/guard`, `import "../delivery/slots.ts";`],
  ["store imports a route", `${authKeys}/store`, `import "../http/get-account.ts";`],
  ["store imports an HTTP package", `${authKeys}/store`, `import "@payment-links/http";`],
  ["store imports the Postgres driver", `${linksApi}/store`, `import "pg";`],
  [
    "delivery imports dependencies",
    `${webhookDispatcher}/delivery`,
    `import "../dependencies.ts";`,
  ],
  [
    "delivery imports an HTTP package",
    `${webhookDispatcher}/delivery`,
    `import "@payment-links/http";`,
  ],
  [
    "a watcher imports the configured chains",
    `${settlementListener}/watch`,
    `import "../chains/create-chains.ts";`,
  ],
  [
    "another service imports the readers of chains",
    `${linksApi}/domain`,
    `import "@payment-links/chains/readers";`,
  ],
  ["a chain family imports its readers", "packages/chains/src/evm", `import "./reads/x.ts";`],
  [
    "the reader of a chain family imports a service",
    "packages/chains/src/evm/reads",
    `import "@payment-links/settlement-listener";`,
  ],
  [
    "payment reports import a watcher",
    `${settlementListener}/payment-reports`,
    `import "../watch/lease.ts";`,
  ],
  ["a route imports an SQL library", `${linksApi}/http`, `import "slonik";`],
  ["a route re-exports an event handler", `${linksApi}/http`, `export * from "../events/x.ts";`],
  ["an event handler imports a route", `${linksApi}/events`, `import "../http/x.ts";`],
  [
    "an event handler imports an HTTP package",
    `${linksApi}/events`,
    `import "@payment-links/http";`,
  ],
  ["a page imports a route", `${linksApi}/pages`, `import "../http/x.ts";`],
  ["a job imports the service", `${linksApi}/jobs`, `import "../service.ts";`],
  ["a job imports a route dynamically", `${linksApi}/jobs`, `await import("../http/x.ts");`],
  ["the issuer imports the store", `${authKeys}/issuer`, `import "../store/accounts.ts";`],
  ["a service imports a Kafka client", authKeys, `import "kafkajs";`],
  ["a service imports a Redis client", linksApi, `import "ioredis";`],
  [
    "a service imports another service by its path",
    `${linksApi}/http`,
    `import "../../../auth-keys/src/service.ts";`,
  ],
  [
    "a service imports another service by its name",
    `${linksApi}/http`,
    `import "@payment-links/auth-keys";`,
  ],
  ["a folder has no import rules", unknownLayer, `import "../store/links.ts";`],
  [
    "chains imports contracts",
    "packages/chains/src",
    `import type {} from "@payment-links/contracts";`,
  ],
  ["chains imports a library of the services", "packages/chains/src/evm", `import "zod";`],
  [
    "contracts imports a package",
    "packages/contracts/src",
    `import type {} from "@payment-links/runtime";`,
  ],
  [
    "runtime imports contracts",
    "packages/runtime/src",
    `import type {} from "@payment-links/contracts";`,
  ],
  ["postgres imports the bus", "packages/postgres/src", `import "@payment-links/bus";`],
  ["the bus imports process", "packages/bus/src", `import type {} from "@payment-links/process";`],
  ["rate-limit imports an SQL library", "packages/rate-limit/src", `import "slonik";`],
  ["http imports a Kafka client", "packages/http/src", `import "kafkajs";`],
  ["process imports a service", "packages/process/src", `import "@payment-links/links-api";`],
  [
    "a file of a package is imported by its subpath",
    "packages/http/src",
    `import "@payment-links/bus/relay";`,
  ],
  [
    "a file of a package is imported by its relative path",
    "packages/http/src",
    `import "../../runtime/src/log.ts";`,
  ],
  [
    "product code imports from a testing folder",
    "packages/process/src",
    `import "./testing/x.ts";`,
  ],
  [
    "product code imports a local chain",
    "packages/chains/src/evm/reads",
    `import "@payment-links/local-chains/evm/start-anvil";`,
  ],
  [
    "a local chain imports a service",
    "packages/local-chains/src/evm",
    `import "@payment-links/settlement-listener";`,
  ],
  ["the all-in-one imports a Kafka client", "deploy/src", `import "kafkajs";`],
  [
    "the all-in-one imports from a testing folder",
    "deploy/src",
    `import "@payment-links/runtime/testing";`,
  ],
];

/**
 * Writes a file for each violation, and two files that import each other's types. Then lints all of
 * them.
 */
const lintPlantedFiles = (): string => {
  const plantedFiles = violations.map(([, layer, source], index) => ({
    file: getPlantedPath(layer, index),
    source,
  }));
  plantedFiles.push(
    {
      file: getCyclePath("a"),
      source: `import type { B } from "./${basename(getCyclePath("b"))}";\nexport type A = B[];`,
    },
    {
      file: getCyclePath("b"),
      source: `import type { A } from "./${basename(getCyclePath("a"))}";\nexport type B = A | 1;`,
    },
  );
  try {
    for (const { file, source } of plantedFiles) {
      mkdirSync(join(projectRoot, file, ".."), { recursive: true });
      writeFileSync(join(projectRoot, file), `${source}\n`);
    }
    const args = [join(projectRoot, "node_modules/oxlint/bin/oxlint"), "--quiet", "-f", "unix"];
    const { stdout } = spawnSync(
      process.execPath,
      [...args, ...plantedFiles.map(({ file }) => file)],
      {
        cwd: projectRoot,
        encoding: "utf8",
      },
    );
    return stdout;
  } finally {
    for (const { file } of plantedFiles) rmSync(join(projectRoot, file), { force: true });
    rmSync(join(projectRoot, unknownLayer), { recursive: true, force: true });
  }
};

const getPlantedPath = (layer: string, index: number) =>
  `${layer}/planted-${process.pid}-${index}.ts`;
const getCyclePath = (name: string) => `packages/runtime/src/planted-${process.pid}-${name}.ts`;

describe("the import rules", () => {
  let lintOutput = "";
  beforeAll(() => {
    lintOutput = lintPlantedFiles();
  });

  test.each(
    violations.map(([violation, layer], index) => [violation, getPlantedPath(layer, index)]),
  )("fail the lint when %s", (_case, file) => {
    const lintLines = lintOutput.split("\n").filter((line) => line.startsWith(`${file}:`));
    expect(lintLines.join("\n")).toContain("imports(allowed)");
  });

  test("fail the lint when two files import each other's types", () => {
    const lintLines = lintOutput.split("\n").filter((line) => line.includes("import(no-cycle)"));
    expect(lintLines.map((line) => line.split(":")[0])).toEqual(
      expect.arrayContaining([getCyclePath("a"), getCyclePath("b")]),
    );
  });

  test.each([
    ["packages", "packages" as const, packages],
    ["a service's layers", "layers" as const, serviceLayers],
  ])("for %s have no upward import and no cycle", (_name, kind, rulesByName) => {
    const names = Object.keys(rulesByName);
    for (const [index, name] of names.entries()) {
      const imports = rulesByName[name]?.[kind]?.split(" ") ?? [];
      expect({
        name,
        up: imports.filter((imported) => !names.slice(0, index).includes(imported)),
      }).toEqual({
        name,
        up: [],
      });
    }
  });

  test.each([
    ["README.md", "package-chart"],
    [".github/CONTRIBUTING.md", "layer-chart"],
  ])("are drawn as a chart in %s", (page, chart) => {
    const text = readFileSync(join(projectRoot, page), "utf8");
    expect(text).toContain(`<!-- ${chart} -->\n\`\`\`mermaid\nflowchart TD\n`);
    expect(updateDependencyCharts(text)).toBe(text);
  });
});
