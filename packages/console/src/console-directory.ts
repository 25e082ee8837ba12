import { fileURLToPath } from "node:url";

/** Where the built console is: `manifest.json`, and the files that it names, each compressed too. */
export const consoleDirectory = fileURLToPath(new URL("../dist", import.meta.url));
