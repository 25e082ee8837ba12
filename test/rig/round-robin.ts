import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

export type LoadBalancer = { port: number; close(): Promise<void> };

/**
 * Starts a small ingress for tests. It sends each request to the next port that serves its path. If
 * the connection is refused, it tries the port after that. It does not buffer responses and never
 * repeats a request that was sent.
 */
export const startBalancer = async (
  getPorts: (path: string) => readonly number[],
): Promise<LoadBalancer> => {
  let nextIndex = 0;
  // Only clients close idle connections. If the balancer closed them, a client on a busy machine
  // could send its next request at the same time and fail because of the balancer.
  const server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
    const ports = getPorts(req.url ?? "/");
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      nextIndex += 1;
      forwardRequest(0);
    });
    const forwardRequest = (attemptIndex: number) => {
      const port = ports[(nextIndex + attemptIndex) % ports.length];
      const forwarded = request(
        { host: "127.0.0.1", port, path: req.url, method: req.method, headers: req.headers },
        (response) => {
          res.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(res);
          response.on("error", () => res.destroy());
        },
      );
      forwarded.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNREFUSED" && attemptIndex + 1 < ports.length)
          forwardRequest(attemptIndex + 1);
        else if (res.headersSent) res.destroy();
        else res.writeHead(502).end();
      });
      forwarded.end(Buffer.concat(chunks));
    };
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
