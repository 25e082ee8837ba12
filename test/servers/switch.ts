// `node switch.ts stop|start postgres|kafka|redis`: stops or starts one of the servers that
// `main.ts` runs with the same `SERVERS_SOCKET`. Exits when the server has stopped or started.
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

const controlSocket = connect(process.env["SERVERS_SOCKET"] ?? "");
await once(controlSocket, "connect");
controlSocket.write(`${process.argv.slice(2).join(" ")}\n`);
const result = (await text(controlSocket)).trim();
if (result !== "done") {
  process.stderr.write(`${result}\n`);
  process.exitCode = 1;
}
