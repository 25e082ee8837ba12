import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

type TronNodeHandler = (path: string, body: unknown) => Promise<unknown>;

/**
 * Starts a Tron node that pages can query over HTTP, like TronGrid. It forwards requests to a
 * wallet's handler.
 */
export const startTronNode = async () => {
  const requestedPaths: string[] = [];
  let handleRequest: TronNodeHandler = () => Promise.reject(new Error("no wallet yet"));
  const server = createServer((req, res) => {
    res.setHeader("Access-Control-Allow-Origin", "*");
    res.setHeader("Access-Control-Allow-Headers", "*");
    const path = (req.url ?? "").slice("/".length);
    const respond = async (): Promise<unknown> => {
      // Handles the browser's CORS preflight request.
      if (req.method === "OPTIONS") return {};
      requestedPaths.push(path);
      const body = await text(req);
      return handleRequest(path, body === "" ? {} : JSON.parse(body));
    };
    respond().then(
      (result) => res.end(JSON.stringify(result)),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestedPaths,
    setHandler: (handler: TronNodeHandler): void => {
      handleRequest = handler;
    },
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
