import { describe, expect, test } from "@jest/globals";
import { sqlVoid } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { createMetrics, parseConfig } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { startTestListeners } from "@payment-links/process/testing";
import { createLinksApi, linksApiConfig } from "../service.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

const rig = useRig(createRig);
const linksPath = "/console/api/payment-links.csv";
const paths = [linksPath, "/console/api/payments.csv", "/console/api/deposits.csv"];

const createSmallShop = () => ({ sessionHeaders: rig.createSessionHeaders(sampleAccount()) });

describe("exports", () => {
  test.each(paths)("%s uses no connection of the request pool (rule CALLER-36)", async (path) => {
    const { sessionHeaders } = createSmallShop();
    const { exportRequest } = await rig.pool.transaction(async (tx) => {
      await tx.query(sqlVoid`LOCK TABLE links, deposits, paid_addresses IN ACCESS EXCLUSIVE MODE`);
      const exportRequest = fetch(`${rig.publicUrl}${path}`, { headers: sessionHeaders });
      // The pool's only connection in use belongs to this transaction.
      await waitUntil("the export reads on its own connection", async () => {
        const lockWaits = await countLockWaits(tx);
        return lockWaits > 0 && rig.pool.state().acquiredConnections === 1;
      });
      return { exportRequest };
    });
    expect((await exportRequest).status).toBe(200);
  });

  test("fail in bounded time, and only while their own Postgres connection does not respond (rule CALLER-36)", async () => {
    const account = sampleAccount();
    const keyHeaders = rig.createKeyHeaders(account);
    const id = await rig.createLink(keyHeaders, { toAmount: "5" });
    const url = new URL(rig.context.databaseUrl);
    const proxy = await startTcpProxy(url);
    proxy.stall();
    url.port = String(proxy.port);
    const context = { ...rig.context, databaseUrl: url.href, metrics: createMetrics("away") };
    const service = createLinksApi(context, parseConfig(linksApiConfig, {}));
    const server = await startTestListeners(service, context);
    const startedAtMs = performance.now();
    const headers = rig.createSessionHeaders(account);
    const requestExport = () => fetch(`${server.publicUrl}${linksPath}`, { headers });
    const exportRequest = requestExport();
    expect((await fetch(`${server.publicUrl}/v1/payment-link/${id}`)).status).toBe(200);
    expect((await exportRequest).status).toBe(500);
    expect(performance.now() - startedAtMs).toBeLessThan(hangLimitMs(10_000));
    await proxy.forward();
    const laterResponse = await requestExport();
    expect([laterResponse.status, proxy.openConnectionCount()]).toEqual([200, 1]);
    await laterResponse.text();
    await server.close();
    await service.stop();
    await waitUntil("the export's connection is closed", () => proxy.openConnectionCount() === 0);
    await proxy.kill();
  });
});
