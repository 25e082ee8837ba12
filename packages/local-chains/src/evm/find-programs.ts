import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// A production image does not contain anvil. If it is missing, the error message says so.

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/**
 * Returns the path of anvil's binary. The package's launcher would add another process between this
 * process and the node.
 */
export const findAnvil = (): string => {
  // To stop the node when its parent process ends, `startProgram` needs a POSIX shell.
  if (process.platform === "win32") throw new Error("anvil is not supported on Windows");
  const platform = `${process.platform}-${architectures[process.arch] ?? process.arch}`;
  const packageFolder = findPackage(`@foundry-rs/anvil-${platform}`, "@foundry-rs/anvil");
  return join(packageFolder, "bin", "anvil");
};

/** Returns the folder of a package. It is resolved from another package that depends on it. */
const findPackage = (name: string, dependentPackage?: string): string => {
  try {
    const localRequire = createRequire(import.meta.url);
    const dependentRequire =
      dependentPackage && createRequire(localRequire.resolve(`${dependentPackage}/package.json`));
    return dirname((dependentRequire || localRequire).resolve(`${name}/package.json`));
  } catch (cause) {
    throw new Error(`the package ${name} is not installed`, { cause });
  }
};
