import { createSocket } from "node:dgram";
import { randomInt } from "node:crypto";
import { type Server, createServer } from "node:net";

/**
 * These ports are below the kernel's ephemeral port range, so outgoing connections never use them.
 */
const portMin = 20_000;
const portMax = 32_000;
const attemptsMax = 1_000;

/**
 * The next port to try. Ports are tried in order from a random start. A test may reopen a port that
 * it found and closed, so a port is returned again only after all other ports.
 */
let nextPort = randomInt(portMin, portMax);

const claimedPorts = new Set<number>();

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
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = nextPort;
    nextPort = port + 1 < portMax ? port + 1 : portMin;
    if ((await claim(port)) && (await listenOn(server, port))) return port;
  }
  throw new Error("no free port was found");
};

/**
 * Claims a port for this process, until it ends. Returns false if another process has claimed it.
 * The claim is the UDP port with the same number. It prevents another test file, or another run,
 * from taking a port that this process has found but not opened yet.
 */
const claim = (port: number): Promise<boolean> => {
  if (claimedPorts.has(port)) return Promise.resolve(true);
  const socket = createSocket("udp4").unref();
  return new Promise((resolve) => {
    socket.once("error", () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => {
      claimedPorts.add(port);
      resolve(true);
    });
  });
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
