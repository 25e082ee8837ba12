import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";

const script = join(import.meta.dirname, "check-rules.mjs");
const rulesPage = "packages/contracts/RULES.md";
const rulesText = "# The rules\n\n- **API-1** One.\n- **API-2** Two.\n- **STATE-1** Three.\n";
const testPath = "packages/a/src/a.test.ts";
const testOfAllRules = 'test("is tested (rules API-1, API-2 and STATE-1)", () => {});\n';

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rules-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const checkRules = (files: Record<string, string>) => {
  for (const [file, text] of Object.entries({
    [rulesPage]: rulesText,
    [testPath]: testOfAllRules,
    ...files,
  })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const { status, stdout } = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
  return { status, lines: stdout.trimEnd().split("\n") };
};

describe("the check of rule references", () => {
  test("passes and counts references to rules, also across lines of a comment", () => {
    const a = "/** As ever (rule API-1). */\n// (rules API-1, API-2 and\n// STATE-1)\n";
    const { status, lines } = checkRules({
      "packages/a/src/a.ts": a,
      "README.md": "(rule\nSTATE-1)",
    });
    expect(lines).toEqual(["3 rules, 8 references, 0 problems"]);
    expect(status).toBe(0);
  });

  test.each([
    ["a rule that does not exist", "(rule API-9)", "there is no rule API-9"],
    ["a group that does not exist", "(rule APIS-1)", "there is no rule APIS-1"],
    ["an unknown rule among known ones", "(rules API-1, STATE-9)", "there is no rule STATE-9"],
    ["a rule reference in another form", "(see API-1)", 'write "rule API-1" instead of "API-1"'],
    ["a document outside the repository", "(spec §6.3)", '"spec §" refers to a document'],
    [
      "a document reference across two lines",
      "(interfaces\n * §1)",
      "refers to a document outside the repository",
    ],
    ["a design document outside the repository", '(design, "Payments")', "refers to a document"],
    ["an issue of another tracker", "as issue 12 wants", '"issue 12" refers to a document'],
  ])("fails on %s and names its location", (_case, commentText, problem) => {
    const { status, lines } = checkRules({ "services/a/src/b.ts": `\n/** ${commentText} */\n` });
    expect(lines[0]).toMatch(/^services\/a\/src\/b\.ts:[23]: /);
    expect(lines[0]).toContain(problem);
    expect(status).toBe(1);
  });

  test("fails on a rule that is defined twice", () => {
    const { status, lines } = checkRules({ [rulesPage]: `${rulesText}- **API-1** Again.\n` });
    expect(lines[0]).toBe(`${rulesPage}: rule API-1 is defined twice`);
    expect(status).toBe(1);
  });

  test.each([
    ["a test", 'test("is tested (rule STATE-1)", () => {});'],
    ["a test across several lines", 'test(\n  "is tested (rule STATE-1)",\n  () => {},\n);'],
    ["a describe block", 'describe("a link (rule STATE-1)", () => {});'],
    [
      "a test inside a describe block",
      'describe("a link", () => {\n  test("is it (rule STATE-1)", () => {});\n});',
    ],
    ["a test with a template literal", "test(`is ${1} (rule STATE-1)`, () => {});"],
    ["a table", 'test.each([[1], [f(")(")]])(\n  "%s (rule STATE-1)",\n  () => {},\n);'],
    ["a typed table", 'test.each<[string, number]>(rows)("%s (rule STATE-1)", () => {});'],
    ["a table of describe blocks", 'describe.each(ways)("%s (rule STATE-1)", () => {});'],
    ["a table row", 'test.each([\n  ["an end (rule STATE-1)", 1],\n])("%s", () => {});'],
  ])("counts a rule named in the title of %s", (_case, text) => {
    const testOfOtherRules = 'test("is tested (rules API-1 and API-2)", () => {});\n';
    const { status, lines } = checkRules({
      [testPath]: testOfOtherRules,
      "services/a/src/b.test.ts": text,
    });
    expect(lines).toEqual(["3 rules, 3 references, 0 problems"]);
    expect(status).toBe(0);
  });

  const testTitledWithRule = 'test("is tested (rule STATE-1)", () => {});';
  test.each([
    ["no test", "services/a/src/b.test.ts", ""],
    ["a comment", "services/a/src/b.test.ts", '// (rule STATE-1)\ntest("is tested", () => {});'],
    ["a commented-out test", "services/a/src/b.test.ts", `// ${testTitledWithRule}`],
    ["a test in a block comment", "services/a/src/b.test.ts", `/*\n${testTitledWithRule}\n*/`],
    [
      "a commented-out table row",
      "services/a/src/b.test.ts",
      'test.each([\n  // ["(rule STATE-1)"],\n])("%s", () => {});',
    ],
    ["a skipped test", "services/a/src/b.test.ts", testTitledWithRule.replace("test", "test.skip")],
    [
      "a test body",
      "services/a/src/b.test.ts",
      'test("is tested", () => {\n  f("(rule STATE-1)");\n});',
    ],
    [
      "a title in another form",
      "services/a/src/b.test.ts",
      testTitledWithRule.replace(/[()](?=r|")/g, ""),
    ],
    ["a soak test", "services/a/src/b.soak.test.ts", testTitledWithRule],
    ["a file that is not a test", "services/a/src/b.ts", testTitledWithRule],
  ])("fails on a rule named only in %s", (_case, path, text) => {
    const testOfOtherRules = 'test("is tested (rules API-1 and API-2)", () => {});\n';
    const { status, lines } = checkRules({ [testPath]: testOfOtherRules, [path]: text });
    expect(lines[0]).toBe(`${rulesPage}: no test title names rule STATE-1`);
    expect(status).toBe(1);
  });

  test("accepts references to public standards and other projects' trackers", () => {
    const commentText =
      "// RFC 7636 §4.1, draft §6, the specification's own example, kafkajs issue 1751\n";
    expect(checkRules({ "packages/a/src/a.ts": commentText }).status).toBe(0);
  });
});
