import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Returns the path of an optional program, or undefined if it is not installed. */
export const findTool = (name: string): string | undefined => {
  const configuredPath = process.env[`${name.toUpperCase().replaceAll("-", "_")}_BIN`];
  if (configuredPath !== undefined && configuredPath !== "") return configuredPath;
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  return directories.map((directory) => join(directory, name)).find(isExecutable);
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
