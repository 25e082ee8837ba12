import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startTracing } from "../tracing.ts";

/** Accepts traces over OTLP/HTTP and stores the raw bytes. */
export type TraceCollector = {
  url: string;
  requestedPaths: readonly (string | undefined)[];
  received(): string;
  close(): Promise<void>;
};

/** Starts a collector on a free loopback port. Names and texts are readable in the stored bytes. */
export const startCollector = async (): Promise<TraceCollector> => {
  const bodies: string[] = [];
  const requestedPaths: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    requestedPaths.push(req.url);
    req.on("data", (chunk: Buffer) => bodies.push(chunk.toString("latin1")));
    req.on("end", () => res.writeHead(200).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requestedPaths,
    received: () => bodies.join(""),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Starts tracing in this process, with its own collector. */
export const startCollectedTracing = async (service: string) => {
  const collector = await startCollector();
  process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url;
  process.env["OTEL_METRICS_EXPORTER"] = "none";
  process.env["OTEL_LOGS_EXPORTER"] = "none";
  return { ...collector, stopTracing: await startTracing(service, true) };
};
