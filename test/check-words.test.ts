import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";

const script = join(import.meta.dirname, "check-words.mjs");

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "words-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const checkWords = (file: string, text: string): string[] => {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
  const { status, stdout } = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
  const lines = stdout.trimEnd().split("\n");
  expect([status, lines.at(-1)]).toEqual([
    lines.length > 1 ? 1 : 0,
    `${lines.length - 1} problems`,
  ]);
  return lines.slice(0, -1);
};

describe("the check of words", () => {
  test.each([
    ["a comment", "a/src/a.ts", "// Whoever pays.\n", "whoever"],
    ["a docstring", "a/src/a.ts", "/**\n * What was\n * told anew.\n */\n", "told"],
    ["a comment after code", "a/src/a.ts", "const a = 1; // as told\n", "told"],
    ["a test's title", "a/src/a.test.ts", 'test("nobody waits", () => {});\n', "nobody"],
    [
      "a title of test.each",
      "a/src/a.test.ts",
      '])("one of which waits", () => {});\n',
      "of which",
    ],
    ["a log line", "a/src/a.ts", 'log.warn({}, "nobody responds");\n', "nobody"],
    ["an identifier", "a/src/a.ts", "const isHeard = true;\n", "heard"],
    ["Markdown", "README.md", "Whom it concerns.\n", "whom"],
    ["a chart's comment", "helm/values.yaml", "a: 1 # made anew\n", "anew"],
    [
      "a page's text",
      "a/app/pages/x/texts.ts",
      'const a = "It does not count.";\n',
      "does not count",
    ],
  ])("rejects a word of the list in %s", (_, file, text, word) => {
    const lines = checkWords(file, text);
    expect(lines[0]).toMatch(
      new RegExp(`^${file}:\\d+: "${word}" is a word of the former dialect$`),
    );
  });

  test.each([
    ["in another word", "a/src/a.ts", "// Hearty shallow toldness.\nconst gotold = 1;\n"],
    ["in code of Markdown", "README.md", "Use `told_at`.\n\n```sh\necho told\n```\n"],
    ["in a name within a string", "a/src/a.ts", 'const column = "told_at";\n'],
  ])("allows a word of the list %s", (_, file, text) => {
    expect(checkWords(file, text)).toEqual([]);
  });

  test("names the line", () => {
    expect(checkWords("a/src/a.ts", "const a = 1;\n\n// told\n")).toEqual([
      'a/src/a.ts:3: "told" is a word of the former dialect',
    ]);
  });
});
