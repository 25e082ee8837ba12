import { randomInt } from "node:crypto";
import { type Server, createServer } from "node:net";

/**
 * These ports are below the kernel's ephemeral port range, so outgoing connections never use them.
 * Each concurrent test file uses its own part of the range, so that no file takes a port that
 * another file has found but not opened yet.
 */
const portMin = 20_000;
const portMax = 32_000;
const rangeCount = 24;
const rangeSize = (portMax - portMin) / rangeCount;
const attemptsMax = 100;

/**
 * The next port to try, relative to the start of the test file's part of the range. Ports are tried
 * in order from a random start. A test may reopen a port that it found and closed, so a port is
 * returned again only after all other ports.
 */
let nextOffset = randomInt(rangeSize);

/** Finds TCP ports on loopback that are currently free. */
export const findFreePorts = async (count: number): Promise<number[]> => {
  const servers: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    // Keeps each port open until all ports are found, so that no port is found twice.
    const server = createServer();
    ports.push(await listenOnFreePort(server));
    servers.push(server);
  }
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve()))),
  );
  return ports;
};

/**
 * Listens on a free TCP port on loopback and returns the port. The server can be closed and listen
 * on the same port again, because the kernel never assigns this port to a connection in the
 * meantime.
 */
export const listenOnFreePort = async (server: Server): Promise<number> => {
  const rangeMin = portMin + rangeSize * (Number(process.env["JEST_WORKER_ID"] ?? 0) % rangeCount);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = rangeMin + nextOffset;
    nextOffset = (nextOffset + 1) % rangeSize;
    if (await listenOn(server, port)) return port;
  }
  throw new Error("no free port was found");
};

/** Listens on this port. Returns false if the port is in use. */
const listenOn = (server: Server, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const onError = () => resolve(false);
    server.once("error", onError);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", onError);
      resolve(true);
    });
  });
