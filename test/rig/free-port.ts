import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below the ports that the kernel gives to connections, so that none of those takes one of these
 * meanwhile. Test files that run at once look in different parts of this range, so that none of them
 * takes a port that another has found and not opened yet.
 */
const portMin = 20_000;
const portMax = 32_000;
const partCount = 24;
const partSize = (portMax - portMin) / partCount;
const triesMax = 100;

/** Finds TCP ports on loopback that are free at this moment. */
export const findFreePorts = async (count: number): Promise<number[]> => {
  const servers: Held[] = [];
  const partMin = portMin + partSize * (Number(process.env["JEST_WORKER_ID"] ?? 0) % partCount);
  for (let tries = 0; servers.length < count; tries += 1) {
    if (tries === triesMax) throw new Error("no free port was found");
    const held = await hold(randomInt(partMin, partMin + partSize));
    if (held !== undefined) servers.push(held);
  }
  await Promise.all(servers.map(({ close }) => close()));
  return servers.map(({ port }) => port);
};

type Held = { port: number; close: () => Promise<void> };

/** Holds a port, so that it is not found twice; undefined if somebody else holds it. */
const hold = (port: number): Promise<Held | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const close = () => new Promise<void>((done) => void server.close(() => done()));
      resolve({ port, close });
    });
  });
