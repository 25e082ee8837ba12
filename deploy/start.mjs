// `npm start`: the whole product in one process. Installs what is missing, then runs src/main.ts.
import { runOnNode24 } from "./node24.mjs";

await runOnNode24("deploy/src/main.ts", process.argv.slice(2));
