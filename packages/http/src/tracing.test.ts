import { describe, expect, test } from "@jest/globals";
import { getActiveTraceparent } from "@payment-links/runtime";
import { startCollectedTracing } from "@payment-links/runtime/testing/collector";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { publicRoute } from "./route.ts";
import { sendRequest } from "./testing/client.ts";
import { startApp } from "./testing/start-app.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };

const tracing = useRig(() => startCollectedTracing("test"));
const app = useRig(() =>
  startApp({
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
  }),
);

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
    await tracing.stopTracing();
    expect(tracing.received()).toContain("GET /things/:id");
    expect(tracing.received()).toContain("http.response.status_code");
    expect(tracing.received()).not.toContain("hunter2");
  });
});
