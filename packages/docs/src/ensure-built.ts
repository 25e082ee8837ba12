import { fileURLToPath } from "node:url";
import { type BuiltDirectory, ensureBuilt } from "@payment-links/runtime/built-directory";
import { docsDirectory } from "./docs-directory.ts";

const resolvePath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

export const builtDocs: BuiltDirectory = {
  description: "the docs",
  directory: docsDirectory,
  script: resolvePath("build.ts"),
  sources: [
    "app",
    "content",
    "generated",
    "receivers",
    "src",
    "package.json",
    "../design",
    "../contracts/src",
    "../sdk/README.md",
    "../sdk-python/README.md",
    "../../package-lock.json",
  ].map(resolvePath),
};

/** Builds the docs if the build is missing or outdated. */
export const ensureDocsBuilt = (options: Parameters<typeof ensureBuilt>[1]): Promise<void> =>
  ensureBuilt(builtDocs, options);
