import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Decimal, newId } from "@payment-links/contracts";
import { drawDescriptor } from "@payment-links/contracts/testing/draw-descriptor";
import { openPool } from "@payment-links/postgres";
import { serveForTest } from "@payment-links/process/testing";
import { afterMs, openMetrics, readConfig } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Followed, followEvents } from "@payment-links/runtime/testing/follow-events";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";
import { openTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createLinksApi, linksApiConfig } from "../service.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleChainNames, sampleSettlement } from "../testing/samples.ts";

const limits = { inAll: 6, perAddress: 5 };
const { clock, shift } = createShiftedClock();
const rig = useRig(() => openRig({ clock, settlementChains: ["8453"], eventStreamLimits: limits }));
beforeAll(() => rig.service.start());

const opened: Followed[] = [];
afterEach(async () => {
  for (const stream of opened.splice(0)) stream.close();
  await waitUntil("all are gone", async () => (await countOpen()) === 0);
});

const metric = async (name: string): Promise<number> => {
  const found = await rig.ground.metrics.getSingleMetric(name)?.get();
  return (found?.values ?? []).reduce((sum, { value }) => sum + value, 0);
};
const countOpen = () => metric("payment_links_event_streams");

const openLink = (order: object = {}, account = sampleAccount()) =>
  rig.createLink(rig.giveKey(account), { toAmount: "25", ...order });

type Asked = { query?: string; headers?: Record<string, string>; at?: string };

const follow = async (id: string, { query = "", headers = {}, at = rig.publicUrl }: Asked = {}) => {
  const url = `${at}/checkout/payment-links/${id}/events${query}`;
  const stream = await followEvents(url, { headers });
  opened.push(stream);
  return stream;
};

type Told = {
  status: string;
  receivedAmount: string;
  reason: string | null;
  pendingPayments: { amount: string; confirmations: { seen: number } | null }[];
  payment: { id: string; status: string } | null;
};
const statesOf = ({ events }: Followed): Told[] =>
  events.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data) as Told]));
const hears = (stream: Followed, isWanted: (state: Told) => boolean): Promise<Told> =>
  waitUntil(
    () => `a state like ${String(isWanted)} in ${JSON.stringify(stream.events)}`,
    () => statesOf(stream).find(isWanted),
  );

describe("GET /checkout/payment-links/:id/events (rule CHAIN-15)", () => {
  test("tells at once what GET /checkout/payment-links/:id tells", async () => {
    const id = await openLink();
    const stream = await follow(id);
    await hears(stream, () => true);
    const { json } = await rig.call(`/checkout/payment-links/${id}`);
    expect(statesOf(stream)).toEqual([json]);
  });

  test("tells of a payment that is seen, of a part that has settled, and of the whole", async () => {
    const id = await openLink();
    const streams = [await follow(id), await follow(id)];
    const seen = sampleSettlement(id, { amount: "10", status: "processing" });
    await rig.settle(seen);
    for (const stream of streams) {
      await hears(stream, ({ pendingPayments: [one] }) => one?.amount === "10");
    }
    await rig.settle({ ...seen, version: 2, status: "settled" });
    for (const stream of streams) {
      await hears(stream, (state) => state.receivedAmount === "10" && state.status === "active");
    }
    await rig.settle(sampleSettlement(id, { amount: "15" }));
    for (const stream of streams) await hears(stream, ({ status }) => status === "completed");
    const { json } = await rig.call(`/checkout/payment-links/${id}`);
    expect(streams.map((stream) => statesOf(stream).at(-1))).toEqual([json, json]);
    const ids = streams[0]?.events.map((event) => event["id"]);
    expect(new Set(ids).size).toBe(4);
  });

  test("tells each block on top of a payment, to those alone whose payment waits on that chain", async () => {
    const [id, other] = [await openLink(), await openLink()];
    const [stream, elsewhere] = [await follow(id), await follow(other)];
    const chainId = newId("evt");
    const seen = sampleSettlement(id, { status: "processing", chainId, blockNumber: 7 });
    await rig.settle(seen, sampleSettlement(other, { status: "processing", blockNumber: 7 }));
    await hears(elsewhere, ({ pendingPayments }) => pendingPayments.length === 1);
    for (const headBlock of [8, 9]) {
      const at = new Date();
      await rig.advance({ chainId, headBlock, settledTo: 6, neededBlocks: 3, at });
      const hasHeard = ({ pendingPayments: [one] }: Told) =>
        one?.confirmations?.seen === headBlock - 7;
      await hears(stream, hasHeard);
    }
    await rig.settle({ ...seen, version: 2, status: "settled", amount: new Decimal("25") });
    await hears(stream, ({ pendingPayments }) => pendingPayments.length === 0);
    expect(statesOf(elsewhere)).toHaveLength(2);
  });

  test("tells of an expiry, which writes nothing, and of a late payment after it", async () => {
    const occurredAt = clock.now();
    const expirationDate = afterMs(clock, 3_600_000).toISOString();
    const id = await openLink({ expirationDate });
    const stream = await follow(id);
    await hears(stream, ({ status }) => status === "active");
    shift.nowMs += 3_600_000;
    await hears(stream, ({ reason }) => reason === "expired");
    await rig.settle(sampleSettlement(id, { amount: "25", occurredAt }));
    await hears(stream, ({ status }) => status === "completed");
  });

  test("tells of a deactivation, and of a suspended owner", async () => {
    const account = sampleAccount();
    const [closed, held] = [await openLink({}, account), await openLink({}, account)];
    const [one, other] = [await follow(closed), await follow(held)];
    const headers = { ...rig.giveSession(account), "content-type": "application/json" };
    const path = `/console/api/payment-links/${closed}/deactivate`;
    expect((await rig.call(path, { method: "POST", headers })).status).toBe(200);
    await hears(one, ({ reason }) => reason === "inactive");
    await rig.hear({ ...account, version: 2, isSuspended: true });
    await hears(other, ({ reason }) => reason === "account_suspended");
    expect(statesOf(one).filter(({ reason }) => reason === "inactive")).toHaveLength(1);
  });

  const bitcoinAccount = () =>
    sampleAccount({
      wallets: [
        {
          id: newId("wallet"),
          walletAddress: drawDescriptor(),
          tokenId: "btc",
          chainType: "BVM",
          isDefault: true,
          isChainDefault: true,
          provider: null,
        },
      ],
    });

  test.each([
    ["8453", `0x${"ab".repeat(32)}`, 0, sampleAccount],
    ["bitcoin", "ab".repeat(32), 1, bitcoinAccount],
  ])(
    "given a transaction on %s, tells its payer what became of it, though it does not count",
    async (chainId, transactionHash, number, openAccount) => {
      const linkId = await openLink({ maxUsage: 1 }, openAccount());
      const { destinationAddress, token } = await rig.retrieve(linkId);
      const made = { amount: "1", chainId, destinationAddress, tokenAddress: token.address };
      await rig.settle(sampleSettlement(linkId, made));
      const [own, others] = [
        await follow(linkId, { query: `?sourceTransaction=${transactionHash}` }),
        await follow(linkId),
      ];
      const names = sampleChainNames({ chainId, transactionHash, linkId, number });
      await rig.settle(sampleSettlement(linkId, { ...made, ...names }));
      const { payment } = await hears(own, (state) => state.payment !== null);
      expect(payment).toMatchObject({ id: names.id, status: "settled", applied: false });
      expect(statesOf(others)).toHaveLength(1);
    },
  );

  test("of a link that nobody knows is 404, and takes no place", async () => {
    for (const id of [newId("plink"), "nothing", newId("tx")]) {
      for (const query of ["", "?sourceTransaction=0xab"]) {
        const path = `/checkout/payment-links/${id}/events${query}`;
        const { status, json } = await rig.call(path);
        expect([status, json.errors[0].code]).toEqual([404, "CANNOT_FIND_PAYMENT_LINK"]);
      }
    }
    expect(await countOpen()).toBe(0);
  });

  test("beyond what an address may have is 429 with when to try again", async () => {
    const id = await openLink();
    for (let count = 0; count < limits.perAddress; count += 1) await follow(id);
    const answer = await rig.call(`/checkout/payment-links/${id}/events`);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "10"]);
    expect((await rig.call(`/checkout/payment-links/${id}`)).status).toBe(200);
  });
});

const openAnother = async (url = rig.ground.databaseUrl) => {
  const { log } = rig.ground;
  const pool = await openPool({ url, applicationName: "another", connectionsMax: 4, log });
  const metrics = openMetrics("another");
  const config = readConfig(linksApiConfig, { SETTLEMENT_CHAINS: "8453", SIGN_UP: "closed" });
  const service = createLinksApi({ ...rig.ground, databaseUrl: url, pool, metrics }, config);
  const served = await serveForTest(service, rig.ground);
  await service.start();
  return {
    url: served.publicUrl,
    service,
    failedLooks: async () => {
      const found = await metrics.getSingleMetric("payment_links_failed_looks_total")?.get();
      return found?.values[0]?.value ?? 0;
    },
    close: async () => {
      await served.close();
      await service.stop();
      await pool.end();
    },
  };
};

describe("a process that is drained", () => {
  test("ends its streams, and who comes again elsewhere hears what has settled meanwhile", async () => {
    const first = await openAnother();
    const [unpaid, paid] = [await openLink(), await openLink()];
    const streams = [
      await follow(unpaid, { at: first.url }),
      await follow(paid, { at: first.url }),
    ];
    for (const stream of streams) await hears(stream, () => true);
    await first.close();
    await rig.settle(sampleSettlement(paid, { amount: "25" }));
    for (const stream of streams) await waitUntil("its end", () => stream.ended() === "whole");
    const [still, changed] = await Promise.all(
      [unpaid, paid].map((id, index) =>
        follow(id, { headers: { "last-event-id": streams[index]?.events[0]?.["id"] ?? "" } }),
      ),
    );
    if (still === undefined || changed === undefined) throw new Error("both came again");
    await hears(changed, ({ status }) => status === "completed");
    await waitUntil("its retry", () => still.events.length > 0);
    expect(statesOf(still)).toEqual([]);
  });
});

describe("while Postgres is silent", () => {
  test("streams stay open, the failure is counted, and what happened meanwhile is told", async () => {
    const proxy = await openTcpProxy(new URL(rig.ground.databaseUrl));
    const url = new URL(rig.ground.databaseUrl);
    url.port = String(proxy.port);
    const other = await openAnother(url.href);
    const id = await openLink();
    const stream = await follow(id, { at: other.url });
    await hears(stream, ({ status }) => status === "active");
    proxy.stall();
    await rig.settle(sampleSettlement(id, { amount: "25" }));
    await waitUntil("a failed look", async () => (await other.failedLooks()) > 0);
    expect(stream.ended()).toBeUndefined();
    await proxy.pass();
    await hears(stream, ({ status }) => status === "completed");
    await other.close();
    await proxy.kill();
  });
});
