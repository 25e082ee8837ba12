import { describe, expect, test } from "@jest/globals";
import { sqlVoid } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { createMetrics, parseConfig } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { connectSlowReader } from "@payment-links/runtime/testing/slow-reader";
import { startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { startTestListeners } from "@payment-links/process/testing";
import { createLinksApi, linksApiConfig } from "../service.ts";
import { createRig } from "../testing/create-rig.ts";
import { insertLinkCopies, sampleAccount } from "../testing/samples.ts";

const rig = useRig(createRig);
const linksPath = "/console/api/payment-links.csv";
const paths = [linksPath, "/console/api/payments.csv", "/console/api/deposits.csv"];

/**
 * Creates an account whose export is far larger than all buffers between the service and the
 * client.
 */
const createLargeShop = async () => {
  const account = sampleAccount();
  const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "5" });
  await insertLinkCopies(rig.pool, id, { count: 12_000, description: "界".repeat(500) });
  return { account, id, sessionHeaders: rig.createSessionHeaders(account) };
};

const createSmallShop = () => ({ sessionHeaders: rig.createSessionHeaders(sampleAccount()) });

const startSlowExport = (headers: Record<string, string>, path = linksPath) =>
  connectSlowReader({ url: `${rig.publicUrl}${path}`, headers });

const readMetric = async (name: string, labels: string): Promise<number> => {
  const text = await rig.context.metrics.metrics();
  const line = text
    .split("\n")
    .find((metricLine) => metricLine.startsWith(`${name}{`) && metricLine.includes(labels));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
};

const countExports = (outcome: string) =>
  readMetric("payment_links_exports_total", `outcome="${outcome}"`);

/** The maximum size of one part plus the piece that is being written. */
const bufferedBytesMax = (128 + 32) * 1_024;

/**
 * Waits until all exports are waiting for their clients, and checks the number of buffered bytes
 * meanwhile.
 */
const waitUntilExportsWait = async (exportCount: number): Promise<void> => {
  let stablePollCount = 0;
  let bufferedBefore = 0;
  await waitUntil(
    "the exports wait for their clients",
    async () => {
      const waitingCount = await readMetric("payment_links_exports_under_way", `state="waiting"`);
      const bufferedBytes = await readMetric("payment_links_exports_held_bytes", "");
      expect(bufferedBytes).toBeLessThanOrEqual(exportCount * bufferedBytesMax);
      stablePollCount =
        waitingCount === exportCount && bufferedBytes > 0 && bufferedBytes === bufferedBefore
          ? stablePollCount + 1
          : 0;
      bufferedBefore = bufferedBytes;
      return stablePollCount >= 10;
    },
    hangLimitMs(5_000),
  );
};

describe("exports", () => {
  test("end a client that reads less than 8 KiB/s for 30 seconds (rule CALLER-35)", async () => {
    const { sessionHeaders } = await createLargeShop();
    const reader = await startSlowExport(sessionHeaders);
    expect(reader.status).toBe(200);
    await waitUntilExportsWait(1);
    rig.clock.advance(29_999);
    expect(await countExports("slow")).toBeNaN();
    rig.clock.advance(1);
    await waitUntil("the slow export ends", async () => (await countExports("slow")) === 1);
    await reader.read(Infinity);
    expect(reader.isClosed()).toBe(true);
  });

  test("buffer a limited number of bytes while their clients read nothing (rule CALLER-35)", async () => {
    const { sessionHeaders } = await createLargeShop();
    const readers = [await startSlowExport(sessionHeaders), await startSlowExport(sessionHeaders)];
    await waitUntilExportsWait(2);
    for (const reader of readers) reader.disconnect();
  });

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
