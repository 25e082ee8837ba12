// `node test/hostile-server/main.ts [--seed N] [--faults KIND=PROBABILITY,…] [--port N]` starts
// the hostile server on loopback and prints its port. It runs until SIGTERM or SIGINT. Tests of
// clients in other languages use it. The kinds of faults are in faults.ts.
import { parseArgs } from "node:util";
import { parseFaultMix } from "./faults.ts";
import { startHostileServer } from "./start-hostile-server.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    faults: { type: "string", default: "" },
    port: { type: "string", default: "0" },
  },
});

const server = await startHostileServer({
  seed: Number(values.seed),
  faults: parseFaultMix(values.faults),
  port: Number(values.port),
});
process.stdout.write(`${new URL(server.url).port}\n`);
const stop = () => void server.close();
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
