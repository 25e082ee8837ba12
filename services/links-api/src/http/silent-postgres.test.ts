import { expect, test } from "@jest/globals";
import { connectPool } from "@payment-links/postgres";
import { startTestListeners } from "@payment-links/process/testing";
import { createMetrics, parseConfig } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createLinksApi, linksApiConfig } from "../service.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

const rig = useRig(() => createRig());

/** The statement timeout of the database, plus time for the service's response. */
const responseMsMax = 5_500;
const callsPerOperation = 5;

/**
 * Creates a second instance of the service on the same database, behind a proxy that can stop
 * forwarding.
 */
const createServiceBehindProxy = async () => {
  const { context } = rig;
  const proxy = await startTcpProxy(new URL(context.databaseUrl));
  const url = new URL(context.databaseUrl);
  url.port = String(proxy.port);
  const { log } = context;
  const pool = await connectPool({
    url: url.href,
    applicationName: "silent",
    connectionsMax: 4,
    log,
  });
  const config = parseConfig(linksApiConfig, {});
  const service = createLinksApi({ ...context, pool, metrics: createMetrics("silent") }, config);
  const server = await startTestListeners(service, context);
  return {
    proxy,
    call: async (path: string, init: RequestInit = {}) => {
      const startedAtMs = performance.now();
      const response = await fetch(`${server.publicUrl}${path}`, init);
      await response.arrayBuffer();
      return { status: response.status, durationMs: performance.now() - startedAtMs };
    },
    close: async () => {
      await server.close();
      await pool.end();
      await proxy.kill();
    },
  };
};

test("requests fail in bounded time while the database does not respond, and succeed once it is back", async () => {
  const headers = rig.createKeyHeaders(sampleAccount());
  const id = await rig.createLink(headers, { toAmount: "1" });
  const { proxy, call, close } = await createServiceBehindProxy();
  const createOptions = {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: '{"toAmount":"1"}',
  };
  const calls = {
    create: () => call("/v1/payment-link", createOptions),
    list: () => call("/v1/payment-link", { headers }),
    retrieve: () => call(`/v1/payment-link/${id}`),
    checkout: () => call(`/checkout/payment-links/${id}`),
  };
  expect((await calls.list()).status).toBe(200);
  proxy.stall();
  for (const [name, statuses] of [
    ["create", [500]],
    ["list", [404]],
    ["retrieve", [500, 503]],
    ["checkout", [500, 503]],
  ] as const) {
    // The database does not respond during this time, so each response is the result of a timeout.
    const responses = await Promise.all(Array.from({ length: callsPerOperation }, calls[name]));
    for (const { status, durationMs } of responses) {
      expect(statuses).toContain(status);
      expect(durationMs).toBeLessThan(hangLimitMs(responseMsMax));
    }
  }
  await proxy.forward();
  for (const sendCall of Object.values(calls)) {
    await waitUntil("requests succeed again", async () => (await sendCall()).status === 200);
  }
  await close();
});
