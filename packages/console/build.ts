// Builds the console into `dist`, with compressed copies of each file. `npm run build` and
// `ensureConsoleBuilt` run it.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  replaceDirectory,
  writeWithCompressedCopies,
} from "@payment-links/runtime/built-directory";
import { build } from "vite";
import { builtConsole } from "./src/ensure-built.ts";

await replaceDirectory(builtConsole, async (directory) => {
  await build({
    configFile: join(import.meta.dirname, "vite.config.ts"),
    logLevel: "warn",
    build: { outDir: directory, emptyOutDir: true },
  });
  const assets = join(directory, "assets");
  for (const name of readdirSync(assets)) {
    const file = join(assets, name);
    writeWithCompressedCopies(file, readFileSync(file));
  }
});
