// `node deploy/with-node24.mjs <script> [arguments]`: runs a script of this clone on Node 24,
// installing the dependencies first if they are not there.
import { runOnNode24 } from "./node24.mjs";

const [script, ...args] = process.argv.slice(2);
await runOnNode24(script, args);
