import { type AddressInfo, type Socket, createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** Responds to a request with raw bytes. */
export type RawResponse = (socket: Socket) => void | Promise<void>;

/**
 * Starts a server on loopback that responds with raw bytes, depending on the requested path. A
 * connection can serve several requests.
 */
export const startRawServer = async (
  responses: Readonly<Record<string, RawResponse>>,
  tls?: { key: string; cert: string },
) => {
  const sockets = new Set<Socket>();
  const pathsByConnection: string[][] = [];
  const onConnection = (socket: Socket): void => {
    const paths: string[] = [];
    pathsByConnection.push(paths);
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk: Buffer) => {
      const [, target] = /^POST \/(\S*) /.exec(chunk.toString("latin1")) ?? [];
      // The rest of a request that arrived in pieces.
      if (target === undefined && paths.length > 0) return;
      const path = decodeURIComponent(target ?? "");
      paths.push(path);
      void Promise.resolve(responses[path]?.(socket)).catch(() => socket.destroy());
    });
  };
  const server =
    tls === undefined ? createServer(onConnection) : createTlsServer(tls, onConnection);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    openCount: () => sockets.size,
    openedCount: () => pathsByConnection.length,
    /** The requested paths of each connection, in order. */
    pathsByConnection: (): readonly (readonly string[])[] => pathsByConnection,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
