import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const manifestPath = fileURLToPath(new URL("../../package.json", import.meta.url));

test("each command runs its code on Node 24, even if an older Node starts it", async () => {
  const { scripts } = JSON.parse(await readFile(manifestPath, "utf8")) as {
    scripts: Record<string, string>;
  };
  const programs = Object.values(scripts).flatMap((script) =>
    [...script.matchAll(/\bnode (\S+)/gu)].map(([, program]) => program),
  );
  expect(programs.length).toBeGreaterThan(0);
  // Only this file and its imports must be compatible with Node 20.
  expect(new Set(programs)).toEqual(new Set(["deploy/with-node24.mjs"]));
});
