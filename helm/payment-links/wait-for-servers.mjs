// Before the migrations of a quickstart: waits until its servers take connections, as they come up beside the Job,
// once their images are there. The Job's own deadline ends it.
import { connect } from "node:net";
import { setTimeout as pass } from "node:timers/promises";

/** Each `host:port`, separated by commas. */
const servers = process.env.SERVERS.split(",");
const pauseMs = 1_000;
const answerMsMax = 2_000;

const answers = (server) =>
  new Promise((resolve) => {
    const [host, port] = server.split(":");
    const socket = connect({ host, port: Number(port), timeout: answerMsMax });
    const end = (isThere) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false)).once("error", () => end(false));
  });

for (const server of servers) {
  if (!(await answers(server))) console.log(`waits for ${server}`);
  while (!(await answers(server))) await pass(pauseMs);
}
console.log("all servers are there");
