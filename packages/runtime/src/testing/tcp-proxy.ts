import { type Server, type Socket, connect, createServer } from "node:net";
import { listenOnFreePort } from "./free-port.ts";
import { injectDelay } from "./inject-delay.ts";

/** A way to a server, on any machine, that a test can make slow, silent or absent. */
export type TcpProxy = {
  port: number;
  /** How many connections there have been so far. */
  connections(): number;
  /** How many clients are connected. */
  open(): number;
  /** Everything the clients have sent so far. */
  sent(): string;
  /** Passes all bytes on, each answer after `latencyMs`. */
  pass(latencyMs?: number): Promise<void>;
  /** Takes connections and bytes and answers nothing, like a machine that hangs. */
  stall(): void;
  /** Breaks, once, the connection that sends a text, in place of the answer to it. */
  loseAnswerTo(text: string): void;
  /** Breaks every new connection at once. */
  hangUp(): void;
  /** Breaks all connections and takes no more, like a process that was killed. */
  kill(): Promise<void>;
};

/** Opens a proxy on a free loopback port to the server of a URL. */
export const openTcpProxy = async ({ hostname, port: targetPort }: URL): Promise<TcpProxy> => {
  const sockets = new Set<Socket>();
  let latencyMs = 0;
  let isStalled = false;
  let isHangingUp = false;
  let textToLose: string | undefined;
  let connections = 0;
  let sent = "";
  const server = createServer((client) => {
    connections += 1;
    if (isHangingUp) return void client.destroy();
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
    let isAnswerLost = false;
    client.on("data", (bytes) => {
      sent += bytes.toString("latin1");
      if (textToLose !== undefined && bytes.includes(textToLose)) {
        isAnswerLost = true;
        textToLose = undefined;
      }
      if (!isStalled) upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (isAnswerLost) return void client.destroy();
      if (!isStalled) void writeLate(client, bytes, latencyMs);
      return undefined;
    });
    return undefined;
  });
  const port = await listenOnFreePort(server);
  return {
    port,
    connections: () => connections,
    open: () => sockets.size / 2,
    sent: () => sent,
    pass: async (ms = 0) => {
      latencyMs = ms;
      isStalled = false;
      isHangingUp = false;
      if (!server.listening) await listen(server, port);
    },
    stall: () => {
      isStalled = true;
    },
    loseAnswerTo: (text) => {
      textToLose = text;
    },
    hangUp: () => {
      isHangingUp = true;
    },
    kill: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

const writeLate = async (client: Socket, bytes: Buffer, latencyMs: number): Promise<void> => {
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
