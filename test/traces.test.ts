import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { call, openMerchant, sendNotice } from "./rig/client.ts";
import { type Collector, openCollector } from "./rig/collector.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";
import { type Receiver, openReceiver } from "./rig/receiver.ts";
import { readSpans } from "./rig/spans.ts";
import { registerEndpoint } from "./rig/register-endpoint.ts";
import { acme, shopEnv } from "./rig/shop-env.ts";
import { waitUntil } from "@payment-links/runtime/testing";

const newTrace = () => {
  const id = randomBytes(16).toString("hex");
  return { id, traceparent: `00-${id}-${randomBytes(8).toString("hex")}-01` };
};
const traceIdOf = (traceparent: unknown): string => String(traceparent).split("-")[1] ?? "";

const Line = z.looseObject({ service: z.string(), trace_id: z.string().optional() });

/** The services of whose log lines at least one names the trace. */
const servicesIn = (output: string, traceId: string): string[] => {
  const lines = output.split("\n").filter((line) => line.startsWith("{") && line.includes(traceId));
  const found = lines.map((line) => Line.parse(JSON.parse(line)));
  return [
    ...new Set(found.filter((line) => line.trace_id === traceId).map(({ service }) => service)),
  ].sort();
};

describe("a trace goes through the services", () => {
  let system: RealSystem;
  let collector: Collector;
  let receiver: Receiver;
  let linkId: string;

  beforeAll(async () => {
    [collector, receiver] = await Promise.all([openCollector(), openReceiver()]);
    system = await openRealSystem({
      replicasPerService: 1,
      env: {
        ...shopEnv(receiver),
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

  test("from create over introspection and payment-links.v1: all four services' logs name it", async () => {
    const merchant = await openMerchant(system, "alice");
    await registerEndpoint(system, merchant, "https://receiver.test/hook");
    const { id, traceparent } = newTrace();
    const created = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { "x-api-key": merchant.apiKey, traceparent },
      body: { toAmount: "25" },
    });
    linkId = String(created.body["id"]);
    const all = ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"];
    await waitUntil("lines of all", () => servicesIn(system.output(), id).length >= all.length);
    expect(servicesIn(system.output(), id)).toEqual(all);
  });

  test("from a notice to the first attempt's receiver; a retry starts one that links back", async () => {
    receiver.answerWith(() => (receiver.received.length <= 2 ? 500 : 204));
    const { id, traceparent } = newTrace();
    const notice = { id: "payment-1", paymentLinkId: linkId, amount: "25" };
    const status = await sendNotice(
      system.baseUrl,
      acme,
      { ...notice, status: "settled" },
      { traceparent },
    );
    expect(status).toBe(202);
    // Two events, each attempted twice.
    await waitUntil("retries", () => receiver.received.length >= 4);
    const attempts = Map.groupBy(receiver.received, ({ body }) => body.id);
    for (const [first, second] of attempts.values()) {
      expect(traceIdOf(first?.headers["traceparent"])).toBe(id);
      const retried = traceIdOf(second?.headers["traceparent"]);
      expect(retried).toMatch(/^[0-9a-f]{32}$/);
      expect(retried).not.toBe(id);
      const span = await waitUntil("the retry's span", () =>
        readSpans(collector.received()).find(({ traceId }) => traceId === retried),
      );
      expect(span.links.map(({ traceId }) => traceId)).toEqual([id]);
    }
    expect(attempts.size).toBe(2);
  });
});
