export { consoleDirectory } from "./console-directory.ts";
