import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test } from "@jest/globals";
import { type BuiltDirectory, ensureBuilt } from "./built-directory.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A directory that is built by copying one source. It fails if the source is `invalid`. */
const createBuiltDirectory = (source: string) => {
  const folder = mkdtempSync(join(tmpdir(), "built-directory-"));
  folders.push(folder);
  const built: BuiltDirectory = {
    description: "the pages",
    directory: join(folder, "dist"),
    script: join(folder, "build.ts"),
    sources: [join(folder, "src")],
  };
  const moduleUrl = pathToFileURL(join(import.meta.dirname, "built-directory.ts")).href;
  mkdirSync(join(folder, "src"));
  const writeSource = (text: string) => writeFileSync(join(folder, "src/page.txt"), text);
  writeSource(source);
  writeFileSync(
    built.script,
    `import { readFileSync } from "node:fs";
import { replaceDirectory, writeWithCompressedCopies } from "${moduleUrl}";
const built = ${JSON.stringify(built)};
await replaceDirectory(built, async (folder) => {
  const bytes = readFileSync("src/page.txt");
  writeWithCompressedCopies(folder + "/page.txt", bytes);
  if (String(bytes) === "invalid") throw new Error("the source is invalid");
});
`,
  );
  const reports: string[] = [];
  const ensure = () =>
    ensureBuilt(built, { env: process.env, report: (line) => reports.push(line) });
  const readPage = () => readFileSync(join(built.directory, "page.txt"), "utf8");
  return { built, ensure, folder, readPage, reports, writeSource };
};

test("a directory is built once, and again after its sources change", async () => {
  const { built, ensure, readPage, reports, writeSource, folder } = createBuiltDirectory("one");
  await ensure();
  await ensure();
  expect(readPage()).toBe("one");
  expect(readdirSync(built.directory).toSorted()).toEqual([
    "page.txt",
    "page.txt.br",
    "page.txt.gz",
    "sources.sha256",
  ]);
  writeFileSync(join(folder, "src/page.test.ts"), "");
  await ensure();
  expect(reports).toEqual(["building the pages"]);
  writeSource("two");
  await ensure();
  expect(readPage()).toBe("two");
});

test("a failed build keeps the old directory and leaves nothing behind", async () => {
  const { ensure, folder, readPage, writeSource } = createBuiltDirectory("one");
  await ensure();
  writeSource("invalid");
  await expect(ensure()).rejects.toThrow("the source is invalid");
  expect(readPage()).toBe("one");
  expect(readdirSync(folder).toSorted()).toEqual(["build.ts", "dist", "src"]);
});
