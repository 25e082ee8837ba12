import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { readTable } from "./rig/read-table.ts";
import { openServicesInProcess } from "./rig/services-in-process.ts";

const codeIn = (cell = ""): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

const page = readFileSync(join(projectRoot, ".github/SECURITY.md"), "utf8");
const limits = readTable(page, "limit");
const publicRows = readTable(page, "routes");
const internalRows = readTable(page, "internal routes");

let system: Awaited<ReturnType<typeof openServicesInProcess>>;
beforeAll(async () => {
  system = await openServicesInProcess();
});
afterAll(() => system?.close());

const nameOf = ({ method, path }: { method: string; path: string }): string =>
  `${method.toUpperCase()} ${path}`;

describe("the resource table of the security policy", () => {
  test("has each public route of the four services in exactly one row (rule OPS-13)", () => {
    const listed = publicRows.flatMap(({ routes }) => codeIn(routes));
    expect(listed.toSorted()).toEqual(system.publicRoutes.map(nameOf).toSorted());
  });

  test("names for each row who may call, as the route table says", () => {
    const callers = new Map(
      system.publicRoutes.map((route) => [
        nameOf(route),
        route.caller.by.replace("api-k", "API k"),
      ]),
    );
    const differing = publicRows.flatMap(({ routes, who }) =>
      codeIn(routes).filter((route) => callers.get(route) !== who),
    );
    expect(differing).toEqual([]);
  });

  test("lists each internal route that a service's token opens, and no other", () => {
    const listed = internalRows
      .flatMap((row) => codeIn(row["internal routes"]))
      .filter((code) => /^[A-Z]+ \/internal\//.test(code));
    const opened = system.internalRoutes.filter(({ isForServices }) => isForServices === true);
    expect(listed.toSorted()).toEqual(opened.map(nameOf).toSorted());
  });

  test("leaves no cell empty, and names a test that exists in each row", () => {
    const rows = [...limits, ...publicRows, ...internalRows];
    expect(rows.flatMap((row) => Object.values(row)).filter((cell) => cell === "")).toEqual([]);
    const tests = rows.map((row) => codeIn(row["test"]));
    expect(tests.filter((files) => files.length === 0)).toEqual([]);
    const missing = tests.flat().filter((file) => !existsSync(join(projectRoot, file)));
    expect(missing).toEqual([]);
    expect(tests.flat().filter((file) => !file.endsWith(".test.ts"))).toEqual([]);
  });
});
