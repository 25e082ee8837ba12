import { expect, test } from "@jest/globals";
import { getActiveTraceparent } from "@payment-links/runtime";
import { startCollectedTracing } from "@payment-links/runtime/testing/collector";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { publicRoute } from "./route.ts";
import { sendRequest } from "./testing/client.ts";
import { startApp } from "./testing/start-app.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";

const tracing = useRig(() => {
  process.env["OTEL_TRACES_SAMPLER"] = "parentbased_traceidratio";
  process.env["OTEL_TRACES_SAMPLER_ARG"] = "0";
  return startCollectedTracing("test");
});
const app = useRig(() => {
  const handle = (_req: unknown, res: { json: (body: object) => unknown }) =>
    void res.json({ traceparent: getActiveTraceparent() });
  return startApp({ routes: [publicRoute({ method: "get", path: "/thing", handle })] });
});

test("a client's traceparent does not override the operator's sampling", async () => {
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const { text } = await sendRequest({ port: app.port, path: "/thing", headers });
  expect(text).toMatch(new RegExp(`"00-${traceId}-[0-9a-f]{16}-00"`));
  await tracing.stopTracing();
  expect(tracing.requestedPaths).toEqual([]);
});
