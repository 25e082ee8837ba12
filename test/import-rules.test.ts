import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { updateDependencyCharts } from "./rooms/dependency-chart.ts";
import { packages, serviceLayers } from "./rooms/import-rules.ts";

const linksApi = "services/links-api/src";
const authKeys = "services/auth-keys/src";
const settlementListener = "services/settlement-listener/src";
const webhookDispatcher = "services/webhook-dispatcher/src";
const unknownLayer = `${linksApi}/unheard-of`;

const violations: [string, string, string][] = [
  ["domain sees the store", `${linksApi}/domain`, `import "../store/links.ts";`],
  ["domain speaks SQL", `${linksApi}/domain`, `import "slonik";`],
  ["domain publishes", `${authKeys}/domain`, `import "@payment-links/bus";`],
  ["domain reads a file", `${settlementListener}/domain`, `import "node:fs";`],
  [
    "domain names a type of the store",
    `${linksApi}/domain`,
    `import type * as x from "../store/x.ts"; export type { x };`,
  ],
  [
    "domain hides a type of the store",
    `${linksApi}/domain`,
    `export type X = import("../store/x.ts").X;`,
  ],
  ["the guard sees delivery", `${webhookDispatcher}/guard`, `import "../delivery/slots.ts";`],
  ["store sees a route", `${authKeys}/store`, `import "../http/get-account.ts";`],
  ["store speaks HTTP", `${authKeys}/store`, `import "@payment-links/http";`],
  ["store opens a connection", `${linksApi}/store`, `import "pg";`],
  ["delivery sees dependencies", `${webhookDispatcher}/delivery`, `import "../dependencies.ts";`],
  ["delivery speaks HTTP", `${webhookDispatcher}/delivery`, `import "@payment-links/http";`],
  [
    "a watcher sees a family",
    `${settlementListener}/watch`,
    `import "../families/evm/evm-family.ts";`,
  ],
  ["a family sees a route", `${settlementListener}/families/evm`, `import "../../routes.ts";`],
  [
    "payment reports see a watcher",
    `${settlementListener}/payment-reports`,
    `import "../watch/lease.ts";`,
  ],
  ["a route speaks SQL", `${linksApi}/http`, `import "slonik";`],
  ["a route sees an event's handler", `${linksApi}/http`, `export * from "../events/x.ts";`],
  ["an event's handler sees a route", `${linksApi}/events`, `import "../http/x.ts";`],
  ["an event's handler speaks HTTP", `${linksApi}/events`, `import "@payment-links/http";`],
  ["a page sees a route", `${linksApi}/pages`, `import "../http/x.ts";`],
  ["a job sees the service", `${linksApi}/jobs`, `import "../service.ts";`],
  ["a job waits for a route", `${linksApi}/jobs`, `await import("../http/x.ts");`],
  ["a sign-in's issuer sees the store", `${authKeys}/issuer`, `import "../store/accounts.ts";`],
  ["a service speaks to Kafka", authKeys, `import "kafkajs";`],
  ["a service speaks to Redis", linksApi, `import "ioredis";`],
  ["a service sees another", `${linksApi}/http`, `import "../../../auth-keys/src/service.ts";`],
  ["a service asks for another", `${linksApi}/http`, `import "@payment-links/auth-keys";`],
  ["a room has no row", unknownLayer, `import "../store/links.ts";`],
  [
    "the words import a package",
    "packages/contracts/src",
    `import type {} from "@payment-links/runtime";`,
  ],
  [
    "the ground knows a domain word",
    "packages/runtime/src",
    `import type {} from "@payment-links/contracts";`,
  ],
  ["the database knows the bus", "packages/postgres/src", `import "@payment-links/bus";`],
  ["the bus knows a process", "packages/bus/src", `import type {} from "@payment-links/process";`],
  ["a limit speaks SQL", "packages/rate-limit/src", `import "slonik";`],
  ["the shell speaks to Kafka", "packages/http/src", `import "kafkajs";`],
  ["a process knows a service", "packages/process/src", `import "@payment-links/links-api";`],
  ["a package is entered by the side", "packages/http/src", `import "@payment-links/bus/relay";`],
  ["a package is entered by its path", "packages/http/src", `import "../../runtime/src/log.ts";`],
  ["a product uses what is made for tests", "packages/process/src", `import "./testing/x.ts";`],
  ["the all-in-one speaks to Kafka", "deploy/src", `import "kafkajs";`],
];

/** Writes a file for each violation, and two files that import each other's types, and lints them all. */
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
    expect(lintLines.join("\n")).toContain("rooms(arrows)");
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
