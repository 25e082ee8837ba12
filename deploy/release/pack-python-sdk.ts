import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunProgram } from "../images/build-image.ts";

type PackOptions = { root: string; outputFolder: string; runProgram: RunProgram };

/**
 * Builds the wheel and the source archive of the Python SDK, checks both with twine, and returns
 * their file names. Requires Python 3.10 or later. pip checks the hashes of the tools.
 */
export const packPythonSdk = ({ root, outputFolder, runProgram }: PackOptions): string[] => {
  const folder = join(root, "packages/sdk-python");
  const tempFolder = mkdtempSync(join(tmpdir(), "python-"));
  try {
    const environment = join(tempFolder, "environment");
    const python = join(environment, "bin/python");
    runProgram("python3", ["-m", "venv", environment]);
    const requirements = ["--require-hashes", "--requirement", join(folder, "requirements.txt")];
    runProgram(python, ["-m", "pip", "install", "--quiet", ...requirements]);
    const archives = join(tempFolder, "archives");
    mkdirSync(archives);
    runProgram(python, ["-m", "build", "--no-isolation", "--outdir", archives, folder]);
    const files = readdirSync(archives).toSorted();
    const paths = files.map((file) => join(archives, file));
    runProgram(python, ["-m", "twine", "check", "--strict", ...paths]);
    for (const file of files) cpSync(join(archives, file), join(outputFolder, file));
    return files;
  } finally {
    rmSync(tempFolder, { recursive: true });
  }
};
