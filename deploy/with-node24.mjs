// `node deploy/with-node24.mjs [--omit=dev] <script> [arguments]` installs missing dependencies and
// then runs a script of this repository on Node 24. As with npm, `--omit=dev` skips devDependencies.
import { runOnNode24 } from "./node24.mjs";

const cliArgs = process.argv.slice(2);
const withDev = cliArgs[0] !== "--omit=dev";
const [scriptPath, ...args] = withDev ? cliArgs : cliArgs.slice(1);
await runOnNode24(scriptPath, args, { withDev });
