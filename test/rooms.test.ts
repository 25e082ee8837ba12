import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { withArrowsChart } from "./rooms/arrows-chart.ts";
import { packages, serviceRooms } from "./rooms/rooms.ts";

const linksApi = "services/links-api/src";
const authKeys = "services/auth-keys/src";
const listener = "services/settlement-listener/src";
const dispatcher = "services/webhook-dispatcher/src";
const unknownRoom = `${linksApi}/unheard-of`;

const breaches: [string, string, string][] = [
  ["domain sees the store", `${linksApi}/domain`, `import "../store/links.ts";`],
  ["domain speaks SQL", `${linksApi}/domain`, `import "slonik";`],
  ["domain publishes", `${authKeys}/domain`, `import "@payment-links/bus";`],
  ["domain reads a file", `${listener}/domain`, `import "node:fs";`],
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
  ["the guard sees delivery", `${dispatcher}/guard`, `import "../delivery/slots.ts";`],
  ["store sees a route", `${authKeys}/store`, `import "../http/get-account.ts";`],
  ["store speaks HTTP", `${authKeys}/store`, `import "@payment-links/http";`],
  ["store opens a connection", `${linksApi}/store`, `import "pg";`],
  ["delivery sees deps", `${dispatcher}/delivery`, `import "../deps.ts";`],
  ["delivery speaks HTTP", `${dispatcher}/delivery`, `import "@payment-links/http";`],
  ["a watcher sees a family", `${listener}/watch`, `import "../families/evm/evm-family.ts";`],
  ["a family sees a route", `${listener}/families/evm`, `import "../../routes.ts";`],
  ["sightings see a watcher", `${listener}/sightings`, `import "../watch/lease.ts";`],
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
  ["a room has no row", unknownRoom, `import "../store/links.ts";`],
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

/** Writes a file for each breach, and two that name each other's types, and lints them all. */
const lintPlanted = (): string => {
  const planted = breaches.map(([, room, source], index) => ({
    file: fileOf(room, index),
    source,
  }));
  planted.push(
    {
      file: circleFile("a"),
      source: `import type { B } from "./${basename(circleFile("b"))}";\nexport type A = B[];`,
    },
    {
      file: circleFile("b"),
      source: `import type { A } from "./${basename(circleFile("a"))}";\nexport type B = A | 1;`,
    },
  );
  try {
    for (const { file, source } of planted) {
      mkdirSync(join(projectRoot, file, ".."), { recursive: true });
      writeFileSync(join(projectRoot, file), `${source}\n`);
    }
    const args = [join(projectRoot, "node_modules/oxlint/bin/oxlint"), "--quiet", "-f", "unix"];
    const { stdout } = spawnSync(process.execPath, [...args, ...planted.map(({ file }) => file)], {
      cwd: projectRoot,
      encoding: "utf8",
    });
    return stdout;
  } finally {
    for (const { file } of planted) rmSync(join(projectRoot, file), { force: true });
    rmSync(join(projectRoot, unknownRoom), { recursive: true, force: true });
  }
};

const fileOf = (room: string, index: number) => `${room}/planted-${process.pid}-${index}.ts`;
const circleFile = (name: string) => `packages/runtime/src/planted-${process.pid}-${name}.ts`;

describe("the rooms of the house", () => {
  let faults = "";
  beforeAll(() => {
    faults = lintPlanted();
  });

  test.each(breaches.map(([breach, room], index) => [breach, fileOf(room, index)]))(
    "given that %s, the lint fails",
    (_breach, file) => {
      const told = faults.split("\n").filter((line) => line.startsWith(`${file}:`));
      expect(told.join("\n")).toContain("rooms(arrows)");
    },
  );

  test("given two files that name each other's types, the lint fails", () => {
    const told = faults.split("\n").filter((line) => line.includes("import(no-cycle)"));
    expect(told.map((line) => line.split(":")[0])).toEqual(
      expect.arrayContaining([circleFile("a"), circleFile("b")]),
    );
  });

  test.each([
    ["packages", "packages" as const, packages],
    ["a service's rooms", "rooms" as const, serviceRooms],
  ])("given the table of %s, no arrow leads up and none in a circle", (_name, kind, table) => {
    const names = Object.keys(table);
    for (const [index, name] of names.entries()) {
      const leadsTo = table[name]?.[kind]?.split(" ") ?? [];
      expect({ name, up: leadsTo.filter((to) => !names.slice(0, index).includes(to)) }).toEqual({
        name,
        up: [],
      });
    }
  });

  test("the README's pictures are drawn of the table", () => {
    const readme = readFileSync(join(projectRoot, "README.md"), "utf8");
    expect(readme).toContain("flowchart");
    expect(withArrowsChart(readme)).toBe(readme);
  });
});
