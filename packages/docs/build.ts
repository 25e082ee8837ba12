// Builds the docs into `dist`, with compressed copies of each file. `npm run build` and
// `ensureDocsBuilt` run it.
import { join } from "node:path";
import {
  replaceDirectory,
  writeWithCompressedCopies,
} from "@payment-links/runtime/built-directory";
import { builtDocs } from "./src/ensure-built.ts";
import { renderSite } from "./src/site/render-site.ts";

await replaceDirectory(builtDocs, async (directory) => {
  for (const [path, text] of renderSite()) {
    writeWithCompressedCopies(join(directory, path), Buffer.from(text));
  }
});
