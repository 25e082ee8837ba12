import { expect, test } from "@jest/globals";
import { openPool } from "@payment-links/postgres";
import { serveForTest } from "@payment-links/process/testing";
import { openMetrics, readConfig } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { openTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createLinksApi, linksApiConfig } from "./service.ts";
import { openRig } from "./testing/open-rig.ts";
import { sampleAccount } from "./testing/samples.ts";

const rig = useRig(() => openRig());

/** The database's time for a statement, and ours for its answer. */
const answerMsMax = 5_500;
const callsEach = 5;

/** The same service on the same database, by a way that can fall silent. */
const openBehindProxy = async () => {
  const { ground } = rig;
  const proxy = await openTcpProxy(new URL(ground.databaseUrl));
  const url = new URL(ground.databaseUrl);
  url.port = String(proxy.port);
  const { log } = ground;
  const pool = await openPool({ url: url.href, applicationName: "silent", connectionsMax: 4, log });
  const config = readConfig(linksApiConfig, {});
  const service = createLinksApi({ ...ground, pool, metrics: openMetrics("silent") }, config);
  const served = await serveForTest(service, ground);
  return {
    proxy,
    call: async (path: string, init: RequestInit = {}) => {
      const startedAtMs = performance.now();
      const answer = await fetch(`${served.publicUrl}${path}`, init);
      await answer.arrayBuffer();
      return { status: answer.status, tookMs: performance.now() - startedAtMs };
    },
    close: async () => {
      await served.close();
      await pool.end();
      await proxy.kill();
    },
  };
};

test("a database that falls silent keeps nobody waiting, and is asked again once it is back", async () => {
  const headers = rig.giveKey(sampleAccount());
  const id = await rig.createLink(headers, { toAmount: "1" });
  const { proxy, call, close } = await openBehindProxy();
  const create = {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: '{"toAmount":"1"}',
  };
  const calls = {
    create: () => call("/v1/payment-link", create),
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
    // The database stays silent, so each answer comes because its time is over.
    const answers = await Promise.all(Array.from({ length: callsEach }, calls[name]));
    for (const { status, tookMs } of answers) {
      expect(statuses).toContain(status);
      expect(tookMs).toBeLessThan(hangLimitMs(answerMsMax));
    }
  }
  await proxy.pass();
  for (const ask of Object.values(calls)) {
    await waitUntil("it answers again", async () => (await ask()).status === 200);
  }
  await close();
});
