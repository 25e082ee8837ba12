import { fileURLToPath } from "node:url";

/**
 * The directory of the built docs: `pages` with one HTML file per page, and `assets` with the files
 * that pages load. Each file has compressed copies.
 */
export const docsDirectory = fileURLToPath(new URL("../dist", import.meta.url));
