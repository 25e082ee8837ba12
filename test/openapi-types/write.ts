// `npm run generate` runs this script. It writes the console's operations and the SDK's types as
// TypeScript, the Python SDK's types, and what the docs show about the API as JSON.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { apiDataFile, writeApiData } from "../docs/write-api-data.ts";
import { projectRoot } from "../rig/child.ts";
import { operationsFile, writeOperations } from "./write-operations.ts";
import { pythonTypesFile, writePythonTypes } from "./write-python-types.ts";
import { sdkTypesFile, writeSdkTypes } from "./write-sdk-types.ts";

writeFileSync(join(projectRoot, operationsFile), writeOperations());
writeFileSync(join(projectRoot, sdkTypesFile), writeSdkTypes());
writeFileSync(join(projectRoot, pythonTypesFile), writePythonTypes());
writeFileSync(join(projectRoot, apiDataFile), writeApiData());
