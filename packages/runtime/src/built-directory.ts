import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** A directory with files that a script builds. */
export type BuiltDirectory = {
  /** What the directory contains, such as `the docs`. */
  description: string;
  directory: string;
  /** The module that builds the directory with {@link replaceDirectory}. */
  script: string;
  /** Everything that the build depends on, as files and folders. Test files are ignored. */
  sources: readonly string[];
};

type BuildOptions = {
  env: Readonly<Record<string, string | undefined>>;
  report: (line: string) => void;
};

const buildMsMax = 300_000;
const digestName = "sources.sha256";

/**
 * Builds a directory if it is missing or outdated. Does not touch an up-to-date one, so many
 * processes can call this at the same time.
 */
export const ensureBuilt = async (
  built: BuiltDirectory,
  { env, report }: BuildOptions,
): Promise<void> => {
  if (isBuilt(built)) return;
  report(`building ${built.description}`);
  await promisify(execFile)(process.execPath, [built.script], {
    cwd: dirname(built.script),
    env: { ...env },
    timeout: buildMsMax,
  }).catch((error: unknown) => {
    // Another process may have finished the same build in the meantime.
    if (!isBuilt(built)) throw error;
  });
};

const isBuilt = (built: BuiltDirectory): boolean => {
  const digestFile = join(built.directory, digestName);
  return existsSync(digestFile) && readFileSync(digestFile, "utf8") === digestSources(built);
};

/**
 * Replaces a directory with the files that `build` writes into a temporary one, so that a server
 * never finds an incomplete directory.
 */
export const replaceDirectory = async (
  built: BuiltDirectory,
  build: (temporaryDirectory: string) => Promise<void>,
): Promise<void> => {
  // Sources that change during the build make it outdated.
  const digest = digestSources(built);
  const temporaryDirectory = `${built.directory}.${process.pid}`;
  try {
    await build(temporaryDirectory);
    writeFileSync(join(temporaryDirectory, digestName), digest);
    rmSync(built.directory, { recursive: true, force: true });
    renameSync(temporaryDirectory, built.directory);
  } finally {
    rmSync(temporaryDirectory, { recursive: true, force: true });
  }
};

/** Writes a file with its compressed copies, which have the endings `.br` and `.gz`. */
export const writeWithCompressedCopies = (file: string, bytes: Buffer): void => {
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
};

const digestSources = ({ script, sources }: BuiltDirectory): string => {
  const hash = createHash("sha256");
  for (const file of [script, ...sources.flatMap(listFiles)].toSorted()) {
    hash
      .update(`${relative(dirname(script), file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
};

const listFiles = (path: string): readonly string[] =>
  statSync(path).isFile()
    ? [path]
    : readdirSync(path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
        .map((entry) => join(entry.parentPath, entry.name));
