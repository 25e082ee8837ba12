import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { consoleDirectory } from "@payment-links/console";
import { operationsFile } from "./console-calls/operations-file.ts";
import { writeOperations } from "./console-calls/write-operations.ts";
import { projectRoot } from "./rig/child.ts";

const firstLoadBytesMax = 160 * 1024;

describe("the console's calls", () => {
  test("are typed from the OpenAPI document as it is now (`npm run generate`)", () => {
    expect(readFileSync(join(projectRoot, operationsFile), "utf8")).toBe(writeOperations());
  });
});

describe("the console's files", () => {
  type Chunk = { file: string; isEntry?: boolean; imports?: string[]; css?: string[] };
  const manifest = JSON.parse(
    readFileSync(join(consoleDirectory, "manifest.json"), "utf8"),
  ) as Record<string, Chunk>;

  const filesOf = (name: string, seen = new Set<string>()): Set<string> => {
    const { file = "", css = [], imports = [] } = manifest[name] ?? {};
    for (const one of [file, ...css]) seen.add(one);
    for (const next of imports) if (!seen.has(manifest[next]?.file ?? "")) filesOf(next, seen);
    return seen;
  };
  const sizeOf = (files: Iterable<string>): number =>
    [...files].reduce((sum, file) => sum + statSync(join(consoleDirectory, `${file}.gz`)).size, 0);

  const views = Object.keys(manifest).filter((name) => name.startsWith("app/pages/"));

  test("of a first visit are under 160 KiB compressed, whichever view it begins with", () => {
    expect(views.length).toBeGreaterThan(7);
    for (const view of views) {
      const files = new Set([...filesOf("app/main.tsx"), ...filesOf(view)]);
      expect([view, sizeOf(files) < firstLoadBytesMax]).toEqual([view, true]);
    }
  });

  test("run nothing of anybody else, and are the built ones", () => {
    for (const name of readdirSync(join(consoleDirectory, "assets"))) {
      if (!name.endsWith(".js")) continue;
      const text = readFileSync(join(consoleDirectory, "assets", name), "utf8");
      expect(text).not.toMatch(/\beval\(|new Function\(|insertAdjacentHTML|document\.write/);
      expect(text).not.toContain("react-dom.development");
    }
  });
});
