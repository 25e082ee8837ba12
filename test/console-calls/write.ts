// `npm run generate` runs it: writes what the console calls, as TypeScript.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../rig/child.ts";
import { operationsFile } from "./operations-file.ts";
import { writeOperations } from "./write-operations.ts";

writeFileSync(join(projectRoot, operationsFile), writeOperations());
