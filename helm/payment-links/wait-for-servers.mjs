// Before the migrations: waits until Postgres and one of the brokers take connections, and ends with 78 and the names
// of the servers that did not. It only connects, and of a URL it names host and port alone.
import { connect } from "node:net";
import { setTimeout as pass } from "node:timers/promises";

const waitSeconds = Number(process.env.WAIT_SECONDS);
const untilMs = Date.now() + waitSeconds * 1_000;
const pauseMs = 1_000;
const answerMsMax = 2_000;

/** The server of a database URL; none if it is a socket, or no URL, of which the migrations speak themselves. */
const serversOf = (databaseUrl) => {
  const url = URL.parse(databaseUrl);
  const host = url?.hostname || (url?.searchParams.get("host") ?? "");
  return /^(\/|%2f|$)/i.test(host) ? [] : [`${host}:${url.port || 5432}`];
};

/** Who is waited for: one server of each kind is enough. */
const kinds = [
  { name: "Postgres", servers: serversOf(process.env.MIGRATION_DATABASE_URL) },
  { name: "Kafka", servers: process.env.KAFKA_BROKERS.split(",") },
].filter(({ servers }) => servers.length > 0);

/** Why a server takes no connection; undefined if it does. */
const findFault = (server) =>
  new Promise((resolve) => {
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(server);
    const socket = connect({ host, port: Number(port), timeout: answerMsMax });
    const end = (fault) => {
      socket.destroy();
      resolve(fault);
    };
    socket.once("connect", () => end(undefined));
    socket.once("timeout", () => end("no answer")).once("error", ({ code }) => end(code ?? "error"));
  });

/** In words, who is not reached. */
const findMissing = async () => {
  const asked = kinds.map(async ({ name, servers }) => {
    const faults = await Promise.all(servers.map(findFault));
    if (faults.includes(undefined)) return [];
    const said = servers.map((server, index) => `${server} (${faults[index]})`);
    return [`${name} is not reached at ${said.join(", ")}`];
  });
  return (await Promise.all(asked)).flat();
};

// Process 1 is not ended by a signal that it does not hear.
process.on("SIGTERM", () => process.exit(143));

let missing = await findMissing();
if (missing.length > 0) console.log(`waiting ${waitSeconds} s at most: ${missing.join("; ")}`);
while (missing.length > 0 && Date.now() < untilMs) {
  await pass(pauseMs);
  missing = await findMissing();
}
if (missing.length > 0) {
  console.error(`the migrations cannot begin: ${missing.join("; ")}`);
  process.exit(78);
}
console.log("all servers that the migrations need are there");
