import { type Server, type Socket, connect, createServer } from "node:net";
import { listenOnFreePort } from "./free-port.ts";
import { injectDelay } from "./inject-delay.ts";

/** A proxy in front of a server. A test can make it slow, unresponsive or unavailable. */
export type TcpProxy = {
  port: number;
  /** Returns how many connections were accepted so far. */
  connectionCount(): number;
  /** Returns how many clients are connected. */
  openConnectionCount(): number;
  /** Returns everything that clients have sent so far. */
  getSentText(): string;
  /** Forwards all data, and delays each response by `latencyMs`. */
  forward(latencyMs?: number): Promise<void>;
  /** Accepts connections and data but never responds, like a machine that hangs. */
  stall(): void;
  /**
   * Closes the connection that sends this text when the response to it arrives. Does this only
   * once.
   */
  dropResponseTo(requestText: string): void;
  /** Closes every new connection immediately. */
  rejectConnections(): void;
  /** Closes all connections and accepts no new ones, like a killed process. */
  kill(): Promise<void>;
};

/** Starts a proxy on a free loopback port in front of the server at this URL. */
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
