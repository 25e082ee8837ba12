import { createServer } from "node:net";

/** Finds TCP ports on loopback that nobody holds at this moment. */
export const findFreePorts = async (count: number): Promise<number[]> => {
  const servers = await Promise.all(Array.from({ length: count }, openAnywhere));
  const ports = servers.map(({ port }) => port);
  await Promise.all(servers.map(({ close }) => close()));
  return ports;
};

const openAnywhere = () =>
  new Promise<{ port: number; close: () => Promise<void> }>((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") throw new Error("no TCP address");
      const close = () => new Promise<void>((done) => void server.close(() => done()));
      resolve({ port: address.port, close });
    });
  });
