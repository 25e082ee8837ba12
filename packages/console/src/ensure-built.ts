import { fileURLToPath } from "node:url";
import { type BuiltDirectory, ensureBuilt } from "@payment-links/runtime/built-directory";
import { consoleDirectory } from "./console-directory.ts";

const resolvePath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

export const builtConsole: BuiltDirectory = {
  description: "the console",
  directory: consoleDirectory,
  script: resolvePath("build.ts"),
  sources: [
    "app",
    "package.json",
    "vite.config.ts",
    "../design",
    "../chains/src/browser-wallets",
    "../../package-lock.json",
    "../../tsconfig.json",
  ].map(resolvePath),
};

/** Builds the console if the build is missing or outdated. */
export const ensureConsoleBuilt = ({
  env,
  report,
}: Parameters<typeof ensureBuilt>[1]): Promise<void> =>
  // React uses its development build for every other value of this variable.
  ensureBuilt(builtConsole, { env: { ...env, NODE_ENV: "production" }, report });
