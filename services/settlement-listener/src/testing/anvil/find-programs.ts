import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// The node is a devDependency here, which a production image leaves out; if it is missing, the message
// says so.

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/**
 * The binary itself: the package's own starter would be one more process between us and the node.
 */
export const findAnvil = (): string => {
  // A shell tells the node when its parent has ended.
  if (process.platform === "win32") throw new Error("anvil is not run on Windows");
  const platform = `${process.platform}-${architectures[process.arch] ?? process.arch}`;
  const packageFolder = findPackage(`@foundry-rs/anvil-${platform}`, "@foundry-rs/anvil");
  return join(packageFolder, "bin", "anvil");
};

/** A package's folder, found from another package that depends on it. */
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
