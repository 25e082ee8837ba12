import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const readText = (file: string) => readFileSync(join(import.meta.dirname, file), "utf8");

test("the README names every test and folder beside it", () => {
  const filesTable = readText("README.md").split("## Files\n")[1]?.split("\n## ")[0] ?? "";
  const names = readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules" && !name.startsWith("."))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .filter((name) => /\/$|\.test\.ts$/.test(name));
  expect(names.filter((name) => !filesTable.includes(`\`${name}\``))).toEqual([]);
});

test("the README of the benches says of each what it measures", () => {
  const names = [...readText("bench/main.ts").matchAll(/^ {2}"?([a-z-]+)"?: (?:onStage|bench)/gm)];
  const headings = readText("bench/README.md")
    .split("\n")
    .filter((line) => line.startsWith("## "))
    .join("\n");
  expect(names.length).toBeGreaterThan(10);
  const missing = names.filter(([, name = ""]) => !headings.includes(`\`bench -- ${name}\``));
  expect(missing).toEqual([]);
});
