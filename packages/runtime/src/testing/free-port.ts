import { randomInt } from "node:crypto";
import { type Server, createServer } from "node:net";

/**
 * Below the ports that the kernel gives to connections, so that none of those takes one of these
 * meanwhile. Test files that run at once look in different parts of this range, so that none of them
 * takes a port that another has found and not opened yet.
 */
const portMin = 20_000;
const portMax = 32_000;
const rangeCount = 24;
const rangeSize = (portMax - portMin) / rangeCount;
const attemptsMax = 100;

/**
 * Ports are found in order, from a random one on. A port that a test has found and closed may be opened
 * again later, so it is found again only after all others of its part.
 */
let nextOffset = randomInt(rangeSize);

/** Finds TCP ports on loopback that are free at this moment. */
export const findFreePorts = async (count: number): Promise<number[]> => {
  const servers: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    // Each port stays open until all are found, so that none is found twice.
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
 * Listens on a free TCP port of loopback and returns the port. Unlike a port that the kernel chooses,
 * it is not given to a connection while the server is closed, so the server can listen there again.
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

/** Listens on that port; false if another process holds it. */
const listenOn = (server: Server, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const onError = () => resolve(false);
    server.once("error", onError);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", onError);
      resolve(true);
    });
  });
