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
