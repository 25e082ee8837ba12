// Builds the console into `dist`, with compressed copies of each file. `npm run build` and
// `ensureConsoleBuilt` run it.
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { consoleDirectory } from "./src/console-directory.ts";
import { digestFile, digestSources } from "./src/ensure-built.ts";

const digest = digestSources();
// Builds into a temporary directory and renames it, so that a server never finds an incomplete
// console.
const outDir = `${consoleDirectory}.${process.pid}`;
try {
  await build({
    configFile: join(import.meta.dirname, "vite.config.ts"),
    logLevel: "warn",
    build: { outDir, emptyOutDir: true },
  });
  const assets = join(outDir, "assets");
  for (const name of readdirSync(assets)) {
    const bytes = readFileSync(join(assets, name));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
  writeFileSync(join(outDir, basename(digestFile)), digest);
  rmSync(consoleDirectory, { recursive: true, force: true });
  renameSync(outDir, consoleDirectory);
} finally {
  rmSync(outDir, { recursive: true, force: true });
}
