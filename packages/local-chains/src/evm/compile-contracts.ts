import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import type { Hex } from "viem";

const Output = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
  contracts: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ evm: z.object({ bytecode: z.object({ object: z.string() }) }) }),
    ),
  ),
});

/** Besides the source, only these settings determine the bytecode. */
const settings = {
  optimizer: { enabled: true, runs: 200 },
  // Omits the hash of the sources' names and comments, which otherwise follows the code.
  metadata: { bytecodeHash: "none", appendCBOR: false },
  // An EVM version that all current chains support.
  evmVersion: "paris",
  outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
} as const;

const require = createRequire(import.meta.url);

const cacheDirectory = fileURLToPath(
  new URL("../../../../node_modules/.cache/solc", import.meta.url),
);

/**
 * Compiles a Solidity source. Returns the creation bytecode of each contract by name. Loading the
 * compiler takes at least a second of CPU time, so the result is cached across runs in a folder
 * next to Jest's cache.
 */
export const compileContracts = async (source: URL): Promise<Record<string, Hex>> => {
  const name = basename(fileURLToPath(source));
  const content = await readFile(source, "utf8");
  const input = { language: "Solidity", sources: { [name]: { content } }, settings };
  const text = JSON.stringify(input);
  const { version } = z.object({ version: z.string() }).parse(require("solc/package.json"));
  const digest = createHash("sha256").update(`${version} ${text}`).digest("hex").slice(0, 24);
  const file = join(cacheDirectory, `${digest}.json`);
  const cachedOutput = await readFile(file, "utf8").catch(() => undefined);
  const output = cachedOutput ?? compile(text);
  if (cachedOutput === undefined) {
    await mkdir(cacheDirectory, { recursive: true });
    // The file is written under another name and renamed, because two test files can compile the
    // same source at the same time.
    await writeFile(`${file}.${process.pid}`, output);
    await rename(`${file}.${process.pid}`, file);
  }
  return parseOutput(name, output);
};

const compile = (input: string): string => {
  const solc: { compile: (input: string) => string } = require("solc");
  return solc.compile(input);
};

const parseOutput = (name: string, text: string): Record<string, Hex> => {
  const { errors = [], contracts } = Output.parse(JSON.parse(text));
  const compileErrors = errors.filter(({ severity }) => severity === "error");
  if (compileErrors.length > 0)
    throw new Error(compileErrors.map((error) => error.formattedMessage).join("\n"));
  return Object.fromEntries(
    Object.entries(contracts[name] ?? {}).map(([contract, { evm }]) => [
      contract,
      `0x${evm.bytecode.object}` as const,
    ]),
  );
};
