import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";

const script = join(import.meta.dirname, "check-rules.mjs");
const page = "packages/contracts/RULES.md";
const rules = "# The rules\n\n- **API-1** One.\n- **API-2** Two.\n- **STATE-1** Three.\n";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rules-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const check = (files: Record<string, string>) => {
  for (const [file, text] of Object.entries({ [page]: rules, ...files })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const { status, stdout } = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
  return { status, lines: stdout.trimEnd().split("\n") };
};

describe("the check of references to rules", () => {
  test("passes and counts references that name a rule, over a comment's lines too", () => {
    const a = "/** As ever (rule API-1). */\n// (rules API-1, API-2 and\n// STATE-1)\n";
    const { status, lines } = check({ "packages/a/src/a.ts": a, "README.md": "(rule\nSTATE-1)" });
    expect(lines).toEqual(["3 rules, 5 references, 0 faults"]);
    expect(status).toBe(0);
  });

  test.each([
    ["a rule that is not there", "(rule API-9)", "there is no rule API-9"],
    ["a group that is not there", "(rule APIS-1)", "there is no rule APIS-1"],
    ["a wrong one among right ones", "(rules API-1, STATE-9)", "there is no rule STATE-9"],
    ["a rule named in another form", "(see API-1)", 'write "rule API-1", as everywhere'],
    ["a document that is not here", "(spec §6.3)", '"spec §" points to a document'],
    ["one over two lines", "(interfaces\n * §1)", "points to a document that is not here"],
    ["a design that is not here", '(design, "Payments")', "points to a document"],
    ["an issue of a tracker elsewhere", "as issue 12 wants", '"issue 12" points to a document'],
  ])("fails on %s and names the place", (_what, words, fault) => {
    const { status, lines } = check({ "services/a/src/b.ts": `\n/** ${words} */\n` });
    expect(lines[0]).toMatch(/^services\/a\/src\/b\.ts:[23]: /);
    expect(lines[0]).toContain(fault);
    expect(status).toBe(1);
  });

  test("fails on a rule that is defined twice", () => {
    const { status, lines } = check({ [page]: `${rules}- **API-1** Again.\n` });
    expect(lines[0]).toBe(`${page}: rule API-1 is defined twice`);
    expect(status).toBe(1);
  });

  test("lets public standards and other people's trackers be named", () => {
    const words =
      "// RFC 7636 §4.1, draft §6, the specification's own example, kafkajs issue 1751\n";
    expect(check({ "packages/a/src/a.ts": words }).status).toBe(0);
  });
});
