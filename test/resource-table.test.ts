import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { readTable } from "./rig/read-table.ts";
import { startServicesInProcess } from "./rig/services-in-process.ts";

const extractCode = (cell = ""): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const securityPolicy = readFileSync(join(projectRoot, ".github/SECURITY.md"), "utf8");
const limitRows = readTable(securityPolicy, "limit");
const publicRows = readTable(securityPolicy, "routes");
const internalRows = readTable(securityPolicy, "internal routes");

let system: Awaited<ReturnType<typeof startServicesInProcess>>;
beforeAll(async () => {
  system = await startServicesInProcess();
});
afterAll(() => system?.close());

const formatRoute = ({ method, path }: { method: string; path: string }): string =>
  `${method.toUpperCase()} ${path}`;

describe("the resource table of the security policy", () => {
  test("lists each public route of the four services in exactly one row (rule OPS-13)", () => {
    const listedRoutes = publicRows.flatMap(({ routes }) => extractCode(routes));
    expect(listedRoutes.toSorted()).toEqual(system.publicRoutes.map(formatRoute).toSorted());
  });

  test("names who may call each row's routes, matching the route table", () => {
    const callersByRoute = new Map(
      system.publicRoutes.map((route) => [
        formatRoute(route),
        route.caller.by.replace("api-k", "API k"),
      ]),
    );
    const differingRoutes = publicRows.flatMap(({ routes, who }) =>
      extractCode(routes).filter((route) => callersByRoute.get(route) !== who),
    );
    expect(differingRoutes).toEqual([]);
  });

  test("lists exactly the internal routes that accept a service's token", () => {
    const listedRoutes = internalRows
      .flatMap((row) => extractCode(row["internal routes"]))
      .filter((code) => /^[A-Z]+ \/internal\//.test(code));
    const serviceRoutes = system.internalRoutes.filter(
      ({ isForServices }) => isForServices === true,
    );
    expect(listedRoutes.toSorted()).toEqual(serviceRoutes.map(formatRoute).toSorted());
  });

  test("has no empty cell, and names an existing test in each row", () => {
    const rows = [...limitRows, ...publicRows, ...internalRows];
    expect(rows.flatMap((row) => Object.values(row)).filter((cell) => cell === "")).toEqual([]);
    const testFilesByRow = rows.map((row) => extractCode(row["test"]));
    expect(testFilesByRow.filter((files) => files.length === 0)).toEqual([]);
    const missingFiles = testFilesByRow
      .flat()
      .filter((file) => !existsSync(join(projectRoot, file)));
    expect(missingFiles).toEqual([]);
    expect(testFilesByRow.flat().filter((file) => !file.endsWith(".test.ts"))).toEqual([]);
  });
});
