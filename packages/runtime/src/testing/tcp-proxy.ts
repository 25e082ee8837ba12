import { type Server, type Socket, connect, createServer } from "node:net";
import { listenOnFreePort } from "./free-port.ts";
import { injectDelay } from "./inject-delay.ts";

/** A way to a server, on any machine, that a test can make slow, silent or absent. */
export type TcpProxy = {
  port: number;
  /** How many connections there have been so far. */
  connectionCount(): number;
  /** How many clients are connected. */
  openConnectionCount(): number;
  /** Everything the clients have sent so far. */
  getSentText(): string;
  /** Passes all bytes on, each answer after `latencyMs`. */
  forward(latencyMs?: number): Promise<void>;
  /** Takes connections and bytes and answers nothing, like a machine that hangs. */
  stall(): void;
  /** Breaks, once, the connection that sends a text, in place of the answer to it. */
  dropResponseTo(requestText: string): void;
  /** Breaks every new connection at once. */
  rejectConnections(): void;
  /** Breaks all connections and takes no more, like a process that was killed. */
  kill(): Promise<void>;
};

/** Opens a proxy on a free loopback port to the server of a URL. */
export const startTcpProxy = async ({ hostname, port: targetPort }: URL): Promise<TcpProxy> => {
  const sockets = new Set<Socket>();
  let latencyMs = 0;
  let isStalled = false;
  let isRejectingConnections = false;
  let dropTriggerText: string | undefined;
  let connectionCount = 0;
  let sentText = "";
  const server = createServer((client) => {
    connectionCount += 1;
    if (isRejectingConnections) return void client.destroy();
    const upstream = connect(Number(targetPort), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
      socket.on("error", () => socket.destroy());
    }
    let isResponseDropped = false;
    client.on("data", (bytes) => {
      sentText += bytes.toString("latin1");
      if (dropTriggerText !== undefined && bytes.includes(dropTriggerText)) {
        isResponseDropped = true;
        dropTriggerText = undefined;
      }
      if (!isStalled) upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (isResponseDropped) return void client.destroy();
      if (!isStalled) void writeDelayed(client, bytes, latencyMs);
      return undefined;
    });
    return undefined;
  });
  const port = await listenOnFreePort(server);
  return {
    port,
    connectionCount: () => connectionCount,
    openConnectionCount: () => sockets.size / 2,
    getSentText: () => sentText,
    forward: async (delayMs = 0) => {
      latencyMs = delayMs;
      isStalled = false;
      isRejectingConnections = false;
      if (!server.listening) await listen(server, port);
    },
    stall: () => {
      isStalled = true;
    },
    dropResponseTo: (requestText) => {
      dropTriggerText = requestText;
    },
    rejectConnections: () => {
      isRejectingConnections = true;
    },
    kill: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

const writeDelayed = async (client: Socket, bytes: Buffer, latencyMs: number): Promise<void> => {
  if (latencyMs > 0) await injectDelay("slow peer", latencyMs);
  if (!client.destroyed) client.write(bytes);
};

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
