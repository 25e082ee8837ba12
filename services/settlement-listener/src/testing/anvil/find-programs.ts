import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Hex } from "viem";

// The node and its contracts are devDependencies, which a production image leaves out; if one is
// missing, the message says which.

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/**
 * The binary itself: the package's own starter would be one more process between us and the node.
 */
export const findAnvil = (): string => {
  // A shell tells the node when its parent has ended.
  if (process.platform === "win32") throw new Error("anvil is not run on Windows");
  const platform = `${process.platform}-${architectures[process.arch] ?? process.arch}`;
  const packaged = findPackage(`@foundry-rs/anvil-${platform}`, "@foundry-rs/anvil");
  return join(packaged, "bin", "anvil");
};

/** What creates the two fee proxies: Request Network's own bytecode. */
export const readProxyCode = async (): Promise<{ erc20: Hex; ethereum: Hex }> => {
  const packaged = findPackage("@requestnetwork/smart-contracts");
  const [erc20, ethereum] = await Promise.all(
    ["ERC20FeeProxy", "EthereumFeeProxy"].map((contract) => readFactory(packaged, contract)),
  );
  if (erc20 === undefined || ethereum === undefined)
    throw new Error("two contracts were asked for");
  return { erc20, ethereum };
};

// Read as text: importing the factory would need a whole client library that we do not use.
const readFactory = async (packaged: string, contract: string): Promise<Hex> => {
  const file = join(packaged, "types/factories/src/contracts", `${contract}__factory.js`);
  const text = await readFile(file, "utf8").catch(() => "");
  const code = /const _bytecode = "0x([0-9a-f]+)"/.exec(text)?.[1];
  if (code === undefined) throw new Error(`no bytecode of ${contract} was found`);
  return `0x${code}`;
};

/** A package's folder, found from another package that depends on it. */
const findPackage = (name: string, broughtBy?: string): string => {
  try {
    const here = createRequire(import.meta.url);
    const there = broughtBy && createRequire(here.resolve(`${broughtBy}/package.json`));
    return dirname((there || here).resolve(`${name}/package.json`));
  } catch (cause) {
    throw new Error(`the package ${name} is not installed`, { cause });
  }
};
