import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { call, createMerchant, sendNotice } from "./rig/client.ts";
import { type TraceCollector, startCollector } from "@payment-links/runtime/testing/collector";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";
import { type WebhookReceiver, startReceiver } from "./rig/receiver.ts";
import { parseSpans } from "./rig/spans.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acmeProvider, buildShopEnv } from "./rig/shop-env.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const createTraceContext = () => {
  const traceId = randomBytes(16).toString("hex");
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-01` };
};
const getTraceId = (traceparent: unknown): string => String(traceparent).split("-")[1] ?? "";

const LogLine = z.looseObject({ service: z.string(), trace_id: z.string().optional() });

/** Returns the services with at least one log line that contains the trace ID. */
const listServicesInTrace = (output: string, traceId: string): string[] => {
  const matchingLines = output
    .split("\n")
    .filter((line) => line.startsWith("{") && line.includes(traceId));
  const parsedLines = matchingLines.map((line) => LogLine.parse(JSON.parse(line)));
  return [
    ...new Set(
      parsedLines.filter((line) => line.trace_id === traceId).map(({ service }) => service),
    ),
  ].sort();
};

describe("a trace passes through the services", () => {
  let system: RealSystem;
  let collector: TraceCollector;
  let receiver: WebhookReceiver;
  let linkId: string;

  beforeAll(async () => {
    [collector, receiver] = await Promise.all([startCollector(), startReceiver()]);
    system = await startRealSystem({
      replicasPerService: 1,
      env: {
        ...buildShopEnv(receiver),
        WEBHOOK_RETRY_SCHEDULE_SECONDS: "0,1",
        LOG_LEVEL: "debug",
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_METRICS_EXPORTER: "none",
        OTEL_LOGS_EXPORTER: "none",
        OTEL_BSP_SCHEDULE_DELAY: "100",
      },
    });
  });
  afterAll(async () => {
    await system?.close();
    await Promise.all([receiver?.close(), collector?.close()]);
  });

  test("from create through introspection and payment-links.v1: all four services log it", async () => {
    const merchant = await createMerchant(system, "alice");
    await registerEndpoint(system, merchant, "https://receiver.test/hook");
    const { traceId, traceparent } = createTraceContext();
    const created = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": merchant.apiKey, traceparent },
      body: { toAmount: "25" },
    });
    linkId = String(created.body["id"]);
    const allServices = ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"];
    await waitUntil(
      "all services have logged the trace",
      () => listServicesInTrace(system.output(), traceId).length >= allServices.length,
    );
    expect(listServicesInTrace(system.output(), traceId)).toEqual(allServices);
  });

  test("from a notice to the first attempt's receiver; a retry starts a trace that links back", async () => {
    receiver.setResponder(() => (receiver.received.length <= 2 ? 500 : 204));
    const { traceId, traceparent } = createTraceContext();
    const notice = { id: "payment-1", paymentLinkId: linkId, amount: "25" };
    const status = await sendNotice(
      system.baseUrl,
      acmeProvider,
      { ...notice, status: "settled" },
      { traceparent },
    );
    expect(status).toBe(202);
    // There are two events with two attempts each.
    await waitUntil("the retries arrive", () => receiver.received.length >= 4);
    const attempts = Map.groupBy(receiver.received, ({ body }) => body.id);
    for (const [firstAttempt, secondAttempt] of attempts.values()) {
      expect(getTraceId(firstAttempt?.headers["traceparent"])).toBe(traceId);
      const retryTraceId = getTraceId(secondAttempt?.headers["traceparent"]);
      expect(retryTraceId).toMatch(/^[0-9a-f]{32}$/);
      expect(retryTraceId).not.toBe(traceId);
      const span = await waitUntil("the retry's span arrives", () =>
        parseSpans(collector.received()).find(({ traceId }) => traceId === retryTraceId),
      );
      expect(span.links.map(({ traceId }) => traceId)).toEqual([traceId]);
    }
    expect(attempts.size).toBe(2);
  });
});
