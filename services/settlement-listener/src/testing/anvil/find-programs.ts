import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// The node is a devDependency, which a production image does not contain. If it is missing, the
// error message says so.

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/**
 * Returns the path of the binary. The package's own launcher would add a process between us and the
 * node.
 */
export const findAnvil = (): string => {
  // `startProgram` relies on a POSIX shell to stop the node when its parent ends.
  if (process.platform === "win32") throw new Error("anvil is not run on Windows");
  const platform = `${process.platform}-${architectures[process.arch] ?? process.arch}`;
  const packageFolder = findPackage(`@foundry-rs/anvil-${platform}`, "@foundry-rs/anvil");
  return join(packageFolder, "bin", "anvil");
};

/** Returns a package's folder, resolved from another package that depends on it. */
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
