// `node deploy/with-node24.mjs [--omit=dev] <script> [arguments]`: runs a script of this clone on Node 24,
// installing first the dependencies that are not there; as with npm, `--omit=dev` does without
// devDependencies.
import { runOnNode24 } from "./node24.mjs";

const words = process.argv.slice(2);
const withDev = words[0] !== "--omit=dev";
const [script, ...args] = withDev ? words : words.slice(1);
await runOnNode24(script, args, { withDev });
