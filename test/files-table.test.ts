import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const readText = (file: string) => readFileSync(join(import.meta.dirname, file), "utf8");

test("the README names every folder next to it", () => {
  const [, foldersTable = ""] = readText("README.md").split("## Where things are\n");
  const names = readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
    .map(({ name }) => `\`${name}/\``);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !foldersTable.includes(name))).toEqual([]);
});

test("the README of the benches says what each one measures", () => {
  const names = [...readText("bench/main.ts").matchAll(/^ {2}"?([a-z-]+)"?: bench/gm)];
  const readme = readText("bench/README.md");
  expect(names.length).toBeGreaterThan(5);
  const missing = names.filter(([, name = ""]) => !readme.includes(`\n| \`bench -- ${name}\` |`));
  expect(missing).toEqual([]);
});
