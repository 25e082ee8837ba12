import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Accepts traces over OTLP/HTTP and stores the raw bytes. */
export type TraceCollector = { url: string; received(): string; close(): Promise<void> };

/** Starts a collector on a free loopback port. Names and texts are readable in the stored bytes. */
export const startCollector = async (): Promise<TraceCollector> => {
  const bodies: string[] = [];
  const server = createServer((req, res) => {
    req.on("data", (chunk: Buffer) => bodies.push(chunk.toString("latin1")));
    req.on("end", () => res.writeHead(200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => bodies.join(""),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
