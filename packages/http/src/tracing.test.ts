import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getActiveTraceparent, startTracing } from "@payment-links/runtime";
import { publicRoute } from "./route.ts";
import { sendRequest } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };

let app: StartedApp;
let collector: Server;
let exportedText = "";
let closeTracing = async () => {};

beforeAll(async () => {
  collector = createServer((req, res) => {
    req.on("data", (chunk: Buffer) => {
      exportedText += chunk.toString("latin1");
    });
    req.on("end", () => res.end());
  });
  await new Promise<void>((resolve) => void collector.listen(0, "127.0.0.1", resolve));
  const { port } = collector.address() as AddressInfo;
  process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${port}`;
  process.env["OTEL_METRICS_EXPORTER"] = "none";
  process.env["OTEL_LOGS_EXPORTER"] = "none";
  closeTracing = await startTracing("test", true);
  app = await startApp({
    routes: [
      publicRoute({
        method: "get",
        path: "/things/:id",
        handle: async (_req, res) => {
          await new Promise((resolve) => setImmediate(resolve));
          res.json({ traceparent: getActiveTraceparent() });
        },
      }),
      publicRoute({
        method: "get",
        path: "/broken",
        handle: () => Promise.reject(new Error("broken")),
      }),
    ],
  });
});

afterAll(async () => {
  await app.close();
  await new Promise((resolve) => void collector.close(resolve));
});

describe("with tracing enabled", () => {
  test("a request continues its caller's trace, or starts its own", async () => {
    const getTraceId = async (sentHeaders: Record<string, string>): Promise<string | undefined> => {
      const { text } = await sendRequest({
        port: app.port,
        path: "/things/1",
        headers: sentHeaders,
      });
      const { traceparent } = JSON.parse(text) as { traceparent?: string };
      return traceparent?.split("-")[1];
    };
    expect(await getTraceId(headers)).toBe(traceId);
    const ownTraceId = await getTraceId({});
    expect(ownTraceId).toMatch(/^[0-9a-f]{32}$/);
    expect(ownTraceId).not.toBe(traceId);
  });

  test("samples a request by our own settings, even if its caller disables sampling", async () => {
    const { text } = await sendRequest({
      port: app.port,
      path: "/things/1",
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-00` },
    });
    expect(text).toMatch(new RegExp(`"00-${traceId}-[0-9a-f]{16}-01"`));
  });

  test("the log line of a failure contains the trace id", async () => {
    app.logLines.length = 0;
    await sendRequest({ port: app.port, path: "/broken", headers });
    const logLine = app.logLines.find((text) => text.includes("request failed"));
    expect(JSON.parse(logLine ?? "")).toMatchObject({ trace_id: traceId });
  });

  test("a span is named after the route's pattern, never after the requested path", async () => {
    await sendRequest({ port: app.port, path: "/things/plink_hunter2?q=hunter2", headers });
    await closeTracing();
    expect(exportedText).toContain("GET /things/:id");
    expect(exportedText).toContain("http.response.status_code");
    expect(exportedText).not.toContain("hunter2");
  });
});
