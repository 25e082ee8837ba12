import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { projectRoot } from "./rig/child.ts";
import { readTable } from "./rig/read-table.ts";

const readText = (file: string): string => readFileSync(join(projectRoot, file), "utf8");

const threatsPage = readText(".github/THREATS.md");
const actors = readTable(threatsPage, "actor");
const services = readTable(threatsPage, "service");
const rules = new Set(
  [...readText("packages/contracts/RULES.md").matchAll(/^- \*\*([A-Z]+-\d+)\*\* /gm)].map(
    ([, id = ""]) => id,
  ),
);

describe("the threat model", () => {
  test("says for each kind of actor and each service what it can do at most", () => {
    const actorNames = actors.map((row) => row["actor"]?.split(/,| of /, 1)[0]);
    expect([...new Set(actorNames)]).toEqual([
      "visitor",
      "thief",
      "account",
      "operator",
      "settlement provider",
      "node",
    ]);
    expect(services.map((row) => row["service"] ?? "").toSorted()).toEqual([
      "auth-keys",
      "links-api",
      "settlement-listener",
      "webhook-dispatcher",
    ]);
    const cells = [...actors, ...services].flatMap((row) => Object.values(row));
    expect(cells.filter((cell) => cell === "")).toEqual([]);
  });

  test("names at least one rule that enforces each limit, and only existing rules", () => {
    const ruleIdsByRow = [...actors, ...services].map(
      (row) => row["enforced by"]?.match(/[A-Z]{2,}-\d+/g) ?? [],
    );
    expect(ruleIdsByRow.filter((ids) => ids.length === 0)).toEqual([]);
    expect(ruleIdsByRow.flat().filter((id) => !rules.has(id))).toEqual([]);
  });

  test("is linked from the README and the security policy", () => {
    expect(readText("README.md")).toContain("(.github/THREATS.md)");
    expect(readText(".github/SECURITY.md")).toContain("(THREATS.md)");
  });
});
