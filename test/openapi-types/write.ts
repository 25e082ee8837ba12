// `npm run generate` runs it: writes what the console calls, and what the SDK sends and is sent, as
// TypeScript.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../rig/child.ts";
import { operationsFile, writeOperations } from "./write-operations.ts";
import { sdkTypesFile, writeSdkTypes } from "./write-sdk-types.ts";

writeFileSync(join(projectRoot, operationsFile), writeOperations());
writeFileSync(join(projectRoot, sdkTypesFile), writeSdkTypes());
