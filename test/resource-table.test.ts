import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { openServicesInProcess } from "./rig/services-in-process.ts";

type Row = Record<string, string>;

/** The rows of the tables whose first heading is the given one, by their headings. */
const readTable = (page: string, firstHeading: string): readonly Row[] => {
  const lines = page.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${firstHeading} |`));
  if (start === -1) throw new Error(`the page has no table of ${firstHeading}`);
  const length = lines.slice(start).findIndex((line) => !line.startsWith("|"));
  const cellsOf = (line: string) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim());
  const [headings = [], , ...rows] = lines.slice(start, start + length).map(cellsOf);
  return rows.map((cells) =>
    Object.fromEntries(headings.map((heading, index) => [heading, cells[index] ?? ""])),
  );
};

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
