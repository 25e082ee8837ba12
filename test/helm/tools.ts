import { describe, test } from "@jest/globals";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** A program that need not be on every machine: its path, or undefined. */
export const findTool = (name: string): string | undefined => {
  const given = process.env[`${name.toUpperCase().replaceAll("-", "_")}_BIN`];
  if (given !== undefined && given !== "") return given;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * Blocks and tests that need programs. If one is missing they are skipped and say which, so that
 * `npm test` counts them: a test that is skipped in silence would look like a proof.
 */
export const needing = (...names: readonly string[]) => {
  const missing = names.find((name) => findTool(name) === undefined);
  if (missing === undefined) return { describe, test };
  const reason = `(no ${missing})`;
  return {
    describe: (title: string, body: () => void) => describe.skip(`${title} ${reason}`, body),
    test: (title: string, body: () => Promise<void>) => test.skip(`${title} ${reason}`, body),
  };
};
