import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getActiveTraceparent, startTracing } from "@payment-links/runtime";
import { publicRoute } from "./route.ts";
import { sendRequest } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";

let app: StartedApp;
let exportedCount = 0;
const collector = createServer((req, res) => {
  exportedCount += 1;
  req.resume().on("end", () => res.end());
});
let closeTracing = async () => {};

beforeAll(async () => {
  await new Promise<void>((resolve) => void collector.listen(0, "127.0.0.1", resolve));
  const { port } = collector.address() as AddressInfo;
  process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = `http://127.0.0.1:${port}`;
  process.env["OTEL_METRICS_EXPORTER"] = "none";
  process.env["OTEL_LOGS_EXPORTER"] = "none";
  process.env["OTEL_TRACES_SAMPLER"] = "parentbased_traceidratio";
  process.env["OTEL_TRACES_SAMPLER_ARG"] = "0";
  closeTracing = await startTracing("test", true);
  const path = "/thing";
  const handle = (_req: unknown, res: { json: (body: object) => unknown }) =>
    void res.json({ traceparent: getActiveTraceparent() });
  app = await startApp({ routes: [publicRoute({ method: "get", path, handle })] });
});
afterAll(async () => {
  await app.close();
  await new Promise((resolve) => void collector.close(resolve));
});

test("a client's traceparent does not override the operator's sampling", async () => {
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const { text } = await sendRequest({ port: app.port, path: "/thing", headers });
  expect(text).toMatch(new RegExp(`"00-${traceId}-[0-9a-f]{16}-00"`));
  await closeTracing();
  expect(exportedCount).toBe(0);
});
