import { fileURLToPath } from "node:url";

/** The directory of the built console: `manifest.json` and its files, each with compressed copies. */
export const consoleDirectory = fileURLToPath(new URL("../dist", import.meta.url));
