import { describe, expect, test } from "@jest/globals";
import { nothing } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { openMetrics, readConfig } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { openSlowReader } from "@payment-links/runtime/testing/slow-reader";
import { openTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { serveForTest } from "@payment-links/process/testing";
import { createLinksApi, linksApiConfig } from "../service.ts";
import { openRig } from "../testing/open-rig.ts";
import { copyLink, sampleAccount } from "../testing/samples.ts";

const rig = useRig(openRig);
const linksPath = "/console/api/payment-links.csv";
const paths = [linksPath, "/console/api/payments.csv", "/console/api/deposits.csv"];

/** An account whose export is far larger than all buffers on the way to its reader. */
const openLargeShop = async () => {
  const account = sampleAccount();
  const id = await rig.createLink(rig.giveKey(account), { toAmount: "5" });
  await copyLink(rig.pool, id, { count: 12_000, description: "界".repeat(500) });
  return { account, id, session: rig.giveSession(account) };
};

const openSmallShop = () => ({ session: rig.giveSession(sampleAccount()) });

const readExport = (headers: Record<string, string>, path = linksPath) =>
  openSlowReader({ url: `${rig.publicUrl}${path}`, headers });

const read = async (name: string, labels: string): Promise<number> => {
  const text = await rig.ground.metrics.metrics();
  const line = text.split("\n").find((one) => one.startsWith(`${name}{`) && one.includes(labels));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
};

const countOf = (outcome: string) => read("payment_links_exports_total", `outcome="${outcome}"`);

/** What a part holds at most, with the piece that is being written. */
const heldBytesMax = (128 + 32) * 1_024;

/** Waits until exports do nothing but wait for their readers. Checks meanwhile what they hold. */
const untilWaiting = async (exportCount: number): Promise<void> => {
  let quietPolls = 0;
  let heldBefore = 0;
  await waitUntil(
    "the exports wait for their readers",
    async () => {
      const waiting = await read("payment_links_exports_under_way", `state="waiting"`);
      const held = await read("payment_links_exports_held_bytes", "");
      expect(held).toBeLessThanOrEqual(exportCount * heldBytesMax);
      quietPolls = waiting === exportCount && held > 0 && held === heldBefore ? quietPolls + 1 : 0;
      heldBefore = held;
      return quietPolls >= 10;
    },
    hangLimitMs(5_000),
  );
};

describe("exports", () => {
  test("end a reader that takes less than 8 KiB/s for 30 seconds (rule CALLER-35)", async () => {
    const { session } = await openLargeShop();
    const reader = await readExport(session);
    expect(reader.status).toBe(200);
    await untilWaiting(1);
    rig.clock.advance(29_999);
    expect(await countOf("slow")).toBeNaN();
    rig.clock.advance(1);
    await waitUntil("it is ended", async () => (await countOf("slow")) === 1);
    await reader.read(Infinity);
    expect(reader.isClosed()).toBe(true);
  });

  test("hold a bounded number of bytes while their readers read nothing (rule CALLER-35)", async () => {
    const { session } = await openLargeShop();
    const readers = [await readExport(session), await readExport(session)];
    await untilWaiting(2);
    for (const reader of readers) reader.leave();
  });

  test.each(paths)(
    "%s uses no connection of the pool that requests use (rule CALLER-36)",
    async (path) => {
      const { session } = openSmallShop();
      const { exporting } = await rig.pool.transaction(async (tx) => {
        await tx.query(
          nothing`LOCK TABLE links, deposits, paid_addresses IN ACCESS EXCLUSIVE MODE`,
        );
        const exporting = fetch(`${rig.publicUrl}${path}`, { headers: session });
        // The one connection is that of this transaction.
        await waitUntil("the export reads on a connection of its own", async () => {
          const lockWaits = await countLockWaits(tx);
          return lockWaits > 0 && rig.pool.state().acquiredConnections === 1;
        });
        return { exporting };
      });
      expect((await exporting).status).toBe(200);
    },
  );

  test("fail alone, in bounded time and only for as long as their connection to Postgres is silent (rule CALLER-36)", async () => {
    const account = sampleAccount();
    const key = rig.giveKey(account);
    const id = await rig.createLink(key, { toAmount: "5" });
    const url = new URL(rig.ground.databaseUrl);
    const proxy = await openTcpProxy(url);
    proxy.stall();
    url.port = String(proxy.port);
    const ground = { ...rig.ground, databaseUrl: url.href, metrics: openMetrics("away") };
    const service = createLinksApi(ground, readConfig(linksApiConfig, {}));
    const served = await serveForTest(service, ground);
    const startedAtMs = performance.now();
    const headers = rig.giveSession(account);
    const requestExport = () => fetch(`${served.publicUrl}${linksPath}`, { headers });
    const exporting = requestExport();
    expect((await fetch(`${served.publicUrl}/v1/payment-link/${id}`)).status).toBe(200);
    expect((await exporting).status).toBe(500);
    expect(performance.now() - startedAtMs).toBeLessThan(hangLimitMs(10_000));
    await proxy.pass();
    const answered = await requestExport();
    expect([answered.status, proxy.open()]).toEqual([200, 1]);
    await answered.text();
    await served.close();
    await service.stop();
    await waitUntil("its connection is closed", () => proxy.open() === 0);
    await proxy.kill();
  });
});
