// Runs before the migrations. Waits until Postgres and at least one Kafka broker accept connections. If they do not
// before the timeout, prints the unreachable servers and exits with 78. It does not send data, and prints only the host
// and port of a URL.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const waitSeconds = Number(process.env.WAIT_SECONDS);
const deadlineMs = Date.now() + waitSeconds * 1_000;
const pollIntervalMs = 1_000;
const connectMsMax = 2_000;

/** Returns the server of a database URL, or an empty list for a socket or an invalid URL, which the migrations report. */
const parseServers = (databaseUrl) => {
  const url = URL.parse(databaseUrl);
  const host = url?.hostname || (url?.searchParams.get("host") ?? "");
  return /^(\/|%2f|$)/i.test(host) ? [] : [`${host}:${url.port || 5432}`];
};

/** The groups of servers. In each group, one reachable server is enough. */
const serverGroups = [
  { name: "Postgres", servers: parseServers(process.env.MIGRATION_DATABASE_URL) },
  { name: "Kafka", servers: process.env.KAFKA_BROKERS.split(",") },
].filter(({ servers }) => servers.length > 0);

/** Returns the reason why a connection failed, or undefined if it succeeded. */
const findConnectionError = (server) =>
  new Promise((resolve) => {
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(server);
    const socket = connect({ host, port: Number(port), timeout: connectMsMax });
    const finish = (connectionError) => {
      socket.destroy();
      resolve(connectionError);
    };
    socket.once("connect", () => finish(undefined));
    socket
      .once("timeout", () => finish("timeout"))
      .once("error", ({ code }) => finish(code ?? "error"));
  });

/** Returns a description of each group in which no server is reachable. */
const describeUnreachable = async () => {
  const groupChecks = serverGroups.map(async ({ name, servers }) => {
    const connectionErrors = await Promise.all(servers.map(findConnectionError));
    if (connectionErrors.includes(undefined)) return [];
    const failedServers = servers.map((server, index) => `${server} (${connectionErrors[index]})`);
    return [`${name} is unreachable at ${failedServers.join(", ")}`];
  });
  return (await Promise.all(groupChecks)).flat();
};

// As process 1, Node ignores signals without a handler.
process.on("SIGTERM", () => process.exit(143));

let unreachable = await describeUnreachable();
if (unreachable.length > 0) {
  console.log(`waiting up to ${waitSeconds} s: ${unreachable.join("; ")}`);
}
while (unreachable.length > 0 && Date.now() < deadlineMs) {
  await sleep(pollIntervalMs);
  unreachable = await describeUnreachable();
}
if (unreachable.length > 0) {
  console.error(`the migrations cannot start: ${unreachable.join("; ")}`);
  process.exit(78);
}
console.log("all servers of the migrations are reachable");
