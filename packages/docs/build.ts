// Builds the docs into `dist`, with compressed copies of each file. `npm run build` and
// `ensureDocsBuilt` run it.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { docsDirectory } from "./src/docs-directory.ts";
import { digestFile, digestSources } from "./src/ensure-built.ts";
import { renderSite } from "./src/site/render-site.ts";

const digest = digestSources();
// Builds into a temporary directory and renames it, so that a server never finds incomplete docs.
const outputDirectory = `${docsDirectory}.${process.pid}`;
try {
  for (const [path, text] of renderSite()) {
    const file = join(outputDirectory, path);
    mkdirSync(dirname(file), { recursive: true });
    const bytes = Buffer.from(text);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(file, bytes);
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
  writeFileSync(join(outputDirectory, basename(digestFile)), digest);
  rmSync(docsDirectory, { recursive: true, force: true });
  renameSync(outputDirectory, docsDirectory);
} finally {
  rmSync(outputDirectory, { recursive: true, force: true });
}
