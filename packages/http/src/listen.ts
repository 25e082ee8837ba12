import { type RequestListener, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Listening = {
  port: number;
  /** Ends every connection after the answer under way, then stops listening. */
  close(): Promise<void>;
};

const closeTimeoutMs = 10_000;

/** A port that somebody else holds; its message says which, and which variable changes it. */
export class PortTakenError extends Error {}

type ListenOptions = { handler: RequestListener; host: string; port: number; variable: string };

/** Listens, and resolves once connections are accepted. Throws PortTakenError. */
export const listen = async ({
  handler,
  host,
  port,
  variable,
}: ListenOptions): Promise<Listening> => {
  let isClosing = false;
  const server = createServer({ requestTimeout: 30_000, keepAliveTimeout: 65_000 }, (req, res) => {
    // A kept-alive client must learn of the stop from its answer, or its next request is lost.
    if (isClosing) res.setHeader("Connection", "close");
    handler(req, res);
  });
  await start(server, host, port, variable);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      isClosing = true;
      return close(server);
    },
  };
};

const start = (server: Server, host: string, port: number, variable: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === "EADDRINUSE";
      const text = `Port ${port} on ${host} is taken; free it, or set ${variable} to another.`;
      reject(isTaken ? new PortTakenError(text) : error);
    });
    server.listen({ host, port }, resolve);
  });

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), closeTimeoutMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
