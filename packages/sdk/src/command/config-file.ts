import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Terminal } from "./command.ts";

/** What `login` stores. */
export type Config = { url: string; apiKey: string };

/** Returns the path of the config file (XDG Base Directory Specification). */
const getConfigPath = (env: Terminal["env"]): string => {
  const directory = env["XDG_CONFIG_HOME"];
  // A relative path is invalid according to the specification.
  const hasDirectory = directory !== undefined && isAbsolute(directory);
  const parent = hasDirectory ? directory : join(homedir(), ".config");
  return join(parent, "payment-links", "config.json");
};

/** Reads the config file. Returns undefined if there is none. */
export const readConfig = async (env: Terminal["env"]): Promise<Config | undefined> => {
  const path = getConfigPath(env);
  const text = await readFile(path, "utf8").catch(ignoreMissing);
  if (text === undefined) return undefined;
  const config = parseJson(text);
  if (typeof config?.url !== "string" || typeof config.apiKey !== "string") {
    throw new Error(`${path} cannot be read. Delete it, then run \`payment-links login\`.`);
  }
  return { url: config.url, apiKey: config.apiKey };
};

/** Replaces the config file. Only the user can read it. */
export const writeConfig = async (env: Terminal["env"], config: Config): Promise<string> => {
  const path = getConfigPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // A new file never has the permissions of an old one, and a crash leaves the old file complete.
  const newPath = `${path}.${process.pid}`;
  await rm(newPath, { force: true });
  const file = await open(newPath, "wx", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(config, undefined, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(newPath, path);
  return path;
};

/** Deletes the config file. Returns whether there was one. */
export const deleteConfig = async (env: Terminal["env"]): Promise<boolean> => {
  const isDeleted = await rm(getConfigPath(env)).then(() => true, ignoreMissing);
  return isDeleted === true;
};

const ignoreMissing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== "ENOENT") throw error;
};

/** The syntax error is discarded, because it would quote the file. */
const parseJson = (text: string): Partial<Config> | undefined => {
  try {
    return JSON.parse(text) as Partial<Config>;
  } catch {
    return undefined;
  }
};
