import { type Socket, connect, createServer } from "node:net";
import { once } from "node:events";

/** A way to a server that a test can cut and mend, as a network does. */
export type CuttableProxy = {
  port: number;
  /** Ends every connection, and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
};

const host = "127.0.0.1";

/** Opens a way to a server on loopback. */
export const openCuttableProxy = async (target: { port: number }): Promise<CuttableProxy> => {
  const sockets = new Set<Socket>();
  const hold = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    const far = connect(target.port, host);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      hold(socket);
      socket.once("close", () => other.destroy());
      socket.pipe(other);
    }
  });
  const listenOn = async (port: number): Promise<number> => {
    server.listen(port, host);
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return address.port;
  };
  const port = await listenOn(0);
  return {
    port,
    cut: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    mend: async () => void (await listenOn(port)),
  };
};
