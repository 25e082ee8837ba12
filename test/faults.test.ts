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
  Package: "packages/bus",
  Undoes: "0123abcd bus: send each event once",
  Breaks: "A receiver gets a webhook twice.",
  "Caught-by": "packages/bus/src/relay.test.ts test/crashes.test.ts",
};

const createPatch = (headerOverrides: Record<string, string | undefined> = {}, text = diff) => {
  const lines = Object.entries({ ...headers, ...headerOverrides }).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}: ${value}\n`,
  );
  return `${lines.join("")}\n${text}`;
};

const parsePatch = (text: string, id = "packages/bus/sends-an-event-twice") =>
  parseFault(id, `/${id}.patch`, text);

describe("a planted fault", () => {
  test("is parsed into its headers and the files that it changes", () => {
    expect(parsePatch(createPatch())).toEqual({
      id: "packages/bus/sends-an-event-twice",
      path: "/packages/bus/sends-an-event-twice.patch",
      packageName: headers.Package,
      fixedBy: headers.Undoes,
      impact: headers.Breaks,
      caughtBy: ["packages/bus/src/relay.test.ts", "test/crashes.test.ts"],
      changedFiles: ["packages/bus/src/relay.ts"],
    });
  });

  test.each([
    ["a missing header", createPatch({ Breaks: undefined }), "the headers must be Package, Undoes"],
    ["an unknown header", createPatch({ Severity: "high" }), "the headers must be Package, Undoes"],
    ["a line that is not a header", `A note\n${createPatch()}`, '"A note" is not a header'],
    ["a header without a value", createPatch({ Breaks: "" }), '"Breaks: " is not a header'],
    [
      "the package of another folder",
      createPatch({ Package: "packages/http" }),
      "Package must be packages/bus",
    ],
    [
      "a commit without a subject",
      createPatch({ Undoes: "0123abcd" }),
      "Undoes must be a commit hash",
    ],
    [
      "an incomplete sentence",
      createPatch({ Breaks: "a webhook twice" }),
      "Breaks must be a sentence",
    ],
    ["no diff", createPatch({}, ""), "the patch has no diff"],
    [
      "a changed test",
      createPatch({}, diff.replaceAll("relay.ts", "relay.test.ts")),
      "changes a test",
    ],
  ])("is rejected with %s", (_, text, message) => {
    expect(() => parsePatch(text)).toThrow(`packages/bus/sends-an-event-twice: `);
    expect(() => parsePatch(text)).toThrow(message);
  });

  test("of the simulation names its seeds, and the package of the product's code", () => {
    const text = createPatch({ Seeds: "17, 4711" });
    const { packageName, seeds } = parsePatch(text, "simulation/sends-an-event-twice");
    expect({ packageName, seeds }).toEqual({
      packageName: "packages/bus",
      seeds: [17, 4711],
    });
    expect(() => parsePatch(text)).toThrow("the headers must be");
    for (const invalidPatch of [createPatch(), createPatch({ Seeds: "17 and 4711" })]) {
      expect(() => parsePatch(invalidPatch, "simulation/sends-an-event-twice")).toThrow(
        /headers|Seeds/,
      );
    }
  });

  test("is rejected with a name that is not in kebab case", () => {
    expect(() => parsePatch(createPatch(), "packages/bus/Twice")).toThrow(
      "the name is not in kebab case",
    );
  });

  test("is selected by its package, a part of the package name, its name or its id", () => {
    const plantedFaults = [
      parsePatch(createPatch()),
      parsePatch(createPatch(), "packages/bus/loses-an-event"),
    ];
    const selectIds = (...words: string[]) =>
      selectFaults(plantedFaults, words).map(({ id }) => id);
    const allIds = ["packages/bus/sends-an-event-twice", "packages/bus/loses-an-event"];
    expect(selectIds()).toEqual(allIds);
    expect(selectIds("packages")).toEqual(allIds);
    expect(selectIds("packages/bus")).toEqual(allIds);
    expect(selectIds("loses-an-event")).toEqual(["packages/bus/loses-an-event"]);
    expect(selectIds("packages/bus/loses-an-event")).toEqual(["packages/bus/loses-an-event"]);
    expect(() => selectIds("loses")).toThrow("there is no fault or folder named loses");
  });
});

describe("the planted faults", () => {
  const plantedFaults = readFaults(projectRoot);

  test("cover at least 20 packages, with two or more each", () => {
    const faultsByPackage = Map.groupBy(plantedFaults, ({ packageName }) => packageName);
    expect(faultsByPackage.size).toBeGreaterThanOrEqual(20);
    expect(
      [...faultsByPackage]
        .filter(([, packageFaults]) => packageFaults.length < 2)
        .map(([packageName]) => packageName),
    ).toEqual([]);
  });

  test("name existing test files", () => {
    const missing = plantedFaults.flatMap(({ caughtBy, id }) =>
      caughtBy.filter((file) => !existsSync(join(projectRoot, file))).map((file) => [id, file]),
    );
    expect(missing).toEqual([]);
  });

  const hasGit = spawnSync("git", ["--version"]).status === 0;
  const testWithGit = hasGit ? test : test.skip;

  testWithGit(`apply to the current code${hasGit ? "" : " (no git)"}`, () => {
    const failingPatches = plantedFaults.flatMap(({ id, path }) => {
      const args = ["apply", "--check", path];
      const { status, stderr } = spawnSync("git", args, { cwd: projectRoot, encoding: "utf8" });
      return status === 0 ? [] : [`${id}: ${stderr}`];
    });
    expect(failingPatches).toEqual([]);
  });
});
