// `node switch.ts stop|start postgres|kafka|redis`: stops or starts one of the servers that
// `main.ts` runs with the same `SERVERS_SOCKET`, and ends once that is done.
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";

const socket = connect(process.env["SERVERS_SOCKET"] ?? "");
await once(socket, "connect");
socket.write(`${process.argv.slice(2).join(" ")}\n`);
const answer = (await text(socket)).trim();
if (answer !== "done") {
  process.stderr.write(`${answer}\n`);
  process.exitCode = 1;
}
