import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parseFault, readFaults, selectFaults } from "./faults/read-faults.ts";

const projectRoot = join(import.meta.dirname, "..");

const diff = [
  "diff --git a/packages/bus/src/relay.ts b/packages/bus/src/relay.ts",
  "--- a/packages/bus/src/relay.ts",
  "+++ b/packages/bus/src/relay.ts",
  "@@ -1 +1 @@",
  "-a",
  "+b",
  "",
].join("\n");

const headers = {
  Room: "packages/bus",
  Undoes: "0123abcd bus: send each event once",
  Breaks: "A receiver gets a webhook twice.",
  "Caught-by": "packages/bus/src/relay.test.ts test/crashes.test.ts",
};

const patch = (changes: Record<string, string | undefined> = {}, text = diff) => {
  const lines = Object.entries({ ...headers, ...changes }).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${value}\n`,
  );
  return `${lines.join("")}\n${text}`;
};

const parse = (text: string, id = "packages/bus/sends-an-event-twice") =>
  parseFault(id, `/${id}.patch`, text);

describe("a planted fault", () => {
  test("is read with its headers and the files that it changes", () => {
    expect(parse(patch())).toEqual({
      id: "packages/bus/sends-an-event-twice",
      path: "/packages/bus/sends-an-event-twice.patch",
      room: headers.Room,
      undoes: headers.Undoes,
      breaks: headers.Breaks,
      caughtBy: ["packages/bus/src/relay.test.ts", "test/crashes.test.ts"],
      changedFiles: ["packages/bus/src/relay.ts"],
    });
  });

  test.each([
    ["a missing header", patch({ Breaks: undefined }), "its headers must be Room, Undoes"],
    ["an unknown header", patch({ Severity: "high" }), "its headers must be Room, Undoes"],
    ["a line that is no header", `A note\n${patch()}`, '"A note" is no header'],
    ["a header without a value", patch({ Breaks: "" }), '"Breaks: " is no header'],
    ["the room of another folder", patch({ Room: "packages/http" }), "its room is packages/bus"],
    ["a commit without a subject", patch({ Undoes: "0123abcd" }), "Undoes must be a hash"],
    ["half a sentence", patch({ Breaks: "a webhook twice" }), "Breaks must be a sentence"],
    ["no diff", patch({}, ""), "it has no diff"],
    ["a changed test", patch({}, diff.replaceAll("relay.ts", "relay.test.ts")), "changes a test"],
  ])("is rejected with %s", (_, text, message) => {
    expect(() => parse(text)).toThrow(`packages/bus/sends-an-event-twice: `);
    expect(() => parse(text)).toThrow(message);
  });

  test("of the simulation names its seeds, and the room of the product's code", () => {
    const text = patch({ Seeds: "17, 4711" });
    const { room, seeds } = parse(text, "simulation/sends-an-event-twice");
    expect({ room, seeds }).toEqual({ room: "packages/bus", seeds: [17, 4711] });
    expect(() => parse(text)).toThrow("its headers must be");
    for (const wrong of [patch(), patch({ Seeds: "17 and 4711" })]) {
      expect(() => parse(wrong, "simulation/sends-an-event-twice")).toThrow(/headers|Seeds/);
    }
  });

  test("is rejected with a name that is not in kebab case", () => {
    expect(() => parse(patch(), "packages/bus/Twice")).toThrow("its name is not in kebab case");
  });

  test("is selected by its room, a part of the room, its name or its id", () => {
    const faults = [parse(patch()), parse(patch(), "packages/bus/loses-an-event")];
    const select = (...words: string[]) => selectFaults(faults, words).map(({ id }) => id);
    const both = ["packages/bus/sends-an-event-twice", "packages/bus/loses-an-event"];
    expect(select()).toEqual(both);
    expect(select("packages")).toEqual(both);
    expect(select("packages/bus")).toEqual(both);
    expect(select("loses-an-event")).toEqual(["packages/bus/loses-an-event"]);
    expect(select("packages/bus/loses-an-event")).toEqual(["packages/bus/loses-an-event"]);
    expect(() => select("loses")).toThrow("no fault and no room is named loses");
  });
});

describe("the planted faults", () => {
  const faults = readFaults(projectRoot);

  test("are two or more in each of twenty rooms or more", () => {
    const rooms = Map.groupBy(faults, ({ room }) => room);
    expect(rooms.size).toBeGreaterThanOrEqual(20);
    expect([...rooms].filter(([, some]) => some.length < 2).map(([room]) => room)).toEqual([]);
  });

  test("name test files that are there", () => {
    const missing = faults.flatMap(({ caughtBy, id }) =>
      caughtBy.filter((file) => !existsSync(join(projectRoot, file))).map((file) => [id, file]),
    );
    expect(missing).toEqual([]);
  });

  const hasGit = spawnSync("git", ["--version"]).status === 0;
  const testWithGit = hasGit ? test : test.skip;

  testWithGit(`apply to the code as it is${hasGit ? "" : " (no git)"}`, () => {
    const outdated = faults.flatMap(({ id, path }) => {
      const args = ["apply", "--check", path];
      const { status, stderr } = spawnSync("git", args, { cwd: projectRoot, encoding: "utf8" });
      return status === 0 ? [] : [`${id}: ${stderr}`];
    });
    expect(outdated).toEqual([]);
  });
});
