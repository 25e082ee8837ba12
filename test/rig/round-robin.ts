import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

export type Balancer = { port: number; close(): Promise<void> };

/**
 * A small ingress for tests: sends each request to the next port that may serve its path, and tries
 * the one after that if nobody listens. It buffers nothing, and never repeats a request that was
 * sent.
 */
export const openBalancer = async (
  portsFor: (path: string) => readonly number[],
): Promise<Balancer> => {
  let turn = 0;
  // A client alone ends an idle connection: else its next request could meet that end on a busy
  // machine, and fail by the balancer's fault.
  const server = createServer({ keepAliveTimeout: 0 }, (req, res) => {
    const ports = portsFor(req.url ?? "/");
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      turn += 1;
      attempt(0);
    });
    const attempt = (tries: number) => {
      const port = ports[(turn + tries) % ports.length];
      const forwarded = request(
        { host: "127.0.0.1", port, path: req.url, method: req.method, headers: req.headers },
        (answer) => {
          res.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(res);
          answer.on("error", () => res.destroy());
        },
      );
      forwarded.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNREFUSED" && tries + 1 < ports.length) attempt(tries + 1);
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
