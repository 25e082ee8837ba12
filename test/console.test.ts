import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { consoleDirectory } from "@payment-links/console";
import { operationsFile, writeOperations } from "./openapi-types/write-operations.ts";
import { projectRoot } from "./rig/child.ts";

const appDirectory = join(projectRoot, "packages/console/app");
const sources = readdirSync(appDirectory, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !name.startsWith("api/operations"))
  .map((name) => readFileSync(join(appDirectory, name), "utf8"))
  .join("\n");

const firstLoadBytesMax = 160 * 1024;

/**
 * The identity provider redirects the browser to `finishOidc`, which then redirects to one of our
 * pages. `listPayments` is for other clients: the console shows payments in the link's timeline.
 */
const operationsOfOthers = new Set(["finishOidc", "listPayments"]);

describe("the console's calls", () => {
  test("are typed from the current OpenAPI document (`npm run generate`)", () => {
    expect(readFileSync(join(projectRoot, operationsFile), "utf8")).toBe(writeOperations());
  });

  test("cover every operation of the console API, and go through no other code", () => {
    const operationIds = [...writeOperations().matchAll(/^ {2}(\w+): \["/gm)].map(
      ([, id = ""]) => id,
    );
    expect(operationIds.length).toBeGreaterThan(40);
    const calledIds = new Set(
      [
        ...sources.matchAll(
          /\b(?:callOperation|useOperationQuery|useOperationMutation|buildOperationUrl)\(\s*"(\w+)"/g,
        ),
      ].map(([, id]) => id),
    );
    const isUsed = (id: string) => calledIds.has(id) || operationsOfOthers.has(id);
    expect(operationIds.filter((id) => !isUsed(id))).toEqual([]);
    expect([...operationsOfOthers].filter((id) => calledIds.has(id))).toEqual([]);
    expect(sources).not.toContain("/console/api");
  });
});

describe("the console's files", () => {
  type Chunk = { file: string; isEntry?: boolean; imports?: string[]; css?: string[] };
  const manifest = JSON.parse(
    readFileSync(join(consoleDirectory, "manifest.json"), "utf8"),
  ) as Record<string, Chunk>;

  const collectFiles = (name: string, collectedFiles = new Set<string>()): Set<string> => {
    const { file = "", css = [], imports = [] } = manifest[name] ?? {};
    for (const path of [file, ...css]) collectedFiles.add(path);
    for (const importedName of imports)
      if (!collectedFiles.has(manifest[importedName]?.file ?? ""))
        collectFiles(importedName, collectedFiles);
    return collectedFiles;
  };
  const sumCompressedBytes = (files: Iterable<string>): number =>
    [...files].reduce((sum, file) => sum + statSync(join(consoleDirectory, `${file}.gz`)).size, 0);

  // The refund dialog is not part of a first visit. A click in its view loads it.
  const views = Object.keys(manifest).filter(
    (name) => name.startsWith("app/pages/") && !name.startsWith("app/pages/links/refund/"),
  );

  test("are under 160 KiB compressed on a first visit, for every first view", () => {
    expect(views.length).toBeGreaterThan(7);
    for (const view of views) {
      const files = new Set([...collectFiles("app/main.tsx"), ...collectFiles(view)]);
      expect([view, sumCompressedBytes(files) < firstLoadBytesMax]).toEqual([view, true]);
    }
  });

  test("run no third-party code, and are the built ones", () => {
    for (const name of readdirSync(join(consoleDirectory, "assets"))) {
      if (!name.endsWith(".js")) continue;
      const text = readFileSync(join(consoleDirectory, "assets", name), "utf8");
      expect(text).not.toMatch(/\beval\(|new Function\(|insertAdjacentHTML|document\.write/);
      expect(text).not.toContain("react-dom.development");
    }
  });
});
