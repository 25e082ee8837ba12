import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Decimal, newId } from "@payment-links/contracts";
import { generateDescriptor } from "@payment-links/chains/testing/generate-descriptor";
import { connectPool } from "@payment-links/postgres";
import { startTestListeners } from "@payment-links/process/testing";
import { afterMs, createMetrics, parseConfig } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import {
  type EventStream,
  openEventStream,
} from "@payment-links/runtime/testing/open-event-stream";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";
import { startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createLinksApi, linksApiConfig } from "../service.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, samplePaymentIdentity, sampleSettlement } from "../testing/samples.ts";

const limits = { total: 6, perAddress: 5 };
const { clock, shift } = createShiftedClock();
const rig = useRig(() =>
  createRig({ clock, settlementChains: ["8453"], eventStreamLimits: limits }),
);
beforeAll(() => rig.service.start());

const openStreams: EventStream[] = [];
afterEach(async () => {
  for (const stream of openStreams.splice(0)) stream.close();
  await waitUntil("all streams are closed", async () => (await countOpenStreams()) === 0);
});

const readMetric = async (name: string): Promise<number> => {
  const metric = await rig.context.metrics.getSingleMetric(name)?.get();
  return (metric?.values ?? []).reduce((sum, { value }) => sum + value, 0);
};
const countOpenStreams = () => readMetric("payment_links_event_streams");

const createLink = (body: object = {}, account = sampleAccount()) =>
  rig.createLink(rig.createKeyHeaders(account), { toAmount: "25", ...body });

type FollowOptions = { query?: string; headers?: Record<string, string>; baseUrl?: string };

const openStream = async (
  id: string,
  { query = "", headers = {}, baseUrl = rig.publicUrl }: FollowOptions = {},
) => {
  const url = `${baseUrl}/checkout/payment-links/${id}/events${query}`;
  const stream = await openEventStream(url, { headers });
  openStreams.push(stream);
  return stream;
};

type CheckoutState = {
  status: string;
  receivedAmount: string;
  reason: string | null;
  pendingPayments: { amount: string; confirmations: { seen: number } | null }[];
  payment: { id: string; status: string } | null;
};
const listStates = ({ events }: EventStream): CheckoutState[] =>
  events.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data) as CheckoutState]));
const waitForState = (
  stream: EventStream,
  predicate: (state: CheckoutState) => boolean,
): Promise<CheckoutState> =>
  waitUntil(
    () => `a state like ${String(predicate)} in ${JSON.stringify(stream.events)}`,
    () => listStates(stream).find(predicate),
  );

describe("GET /checkout/payment-links/:id/events (rule CHAIN-15)", () => {
  test("immediately sends the response of GET /checkout/payment-links/:id", async () => {
    const id = await createLink();
    const stream = await openStream(id);
    await waitForState(stream, () => true);
    const { json } = await rig.call(`/checkout/payment-links/${id}`);
    expect(listStates(stream)).toEqual([json]);
  });

  test("sends updates for a seen payment, a partial settlement, and the completion", async () => {
    const id = await createLink();
    const streams = [await openStream(id), await openStream(id)];
    const pendingSettlement = sampleSettlement(id, { amount: "10", status: "processing" });
    await rig.settle(pendingSettlement);
    for (const stream of streams) {
      await waitForState(stream, ({ pendingPayments: [payment] }) => payment?.amount === "10");
    }
    await rig.settle({ ...pendingSettlement, version: 2, status: "settled" });
    for (const stream of streams) {
      await waitForState(
        stream,
        (state) => state.receivedAmount === "10" && state.status === "active",
      );
    }
    await rig.settle(sampleSettlement(id, { amount: "15" }));
    for (const stream of streams)
      await waitForState(stream, ({ status }) => status === "completed");
    const { json } = await rig.call(`/checkout/payment-links/${id}`);
    expect(streams.map((stream) => listStates(stream).at(-1))).toEqual([json, json]);
    const ids = streams[0]?.events.map((event) => event["id"]);
    expect(new Set(ids).size).toBe(4);
  });

  test("sends each new block above a payment only to streams with pending payments on that chain", async () => {
    const [id, otherLinkId] = [await createLink(), await createLink()];
    const [stream, otherStream] = [await openStream(id), await openStream(otherLinkId)];
    const chainId = newId("evt");
    const pendingSettlement = sampleSettlement(id, {
      status: "processing",
      chainId,
      blockNumber: 7,
    });
    await rig.settle(
      pendingSettlement,
      sampleSettlement(otherLinkId, { status: "processing", blockNumber: 7 }),
    );
    await waitForState(otherStream, ({ pendingPayments }) => pendingPayments.length === 1);
    for (const headBlock of [8, 9]) {
      const at = new Date();
      await rig.receiveChainAdvance({ chainId, headBlock, settledTo: 6, neededBlocks: 3, at });
      const hasConfirmations = ({ pendingPayments: [payment] }: CheckoutState) =>
        payment?.confirmations?.seen === headBlock - 7;
      await waitForState(stream, hasConfirmations);
    }
    await rig.settle({
      ...pendingSettlement,
      version: 2,
      status: "settled",
      amount: new Decimal("25"),
    });
    await waitForState(stream, ({ pendingPayments }) => pendingPayments.length === 0);
    expect(listStates(otherStream)).toHaveLength(2);
  });

  test("sends an expiry, which writes nothing, and a late payment after it", async () => {
    const occurredAt = clock.now();
    const expirationDate = afterMs(clock, 3_600_000).toISOString();
    const id = await createLink({ expirationDate });
    const stream = await openStream(id);
    await waitForState(stream, ({ status }) => status === "active");
    shift.nowMs += 3_600_000;
    await waitForState(stream, ({ reason }) => reason === "expired");
    await rig.settle(sampleSettlement(id, { amount: "25", occurredAt }));
    await waitForState(stream, ({ status }) => status === "completed");
  });

  test("sends a deactivation and a suspension of the owner", async () => {
    const account = sampleAccount();
    const [closedLinkId, suspendedLinkId] = [
      await createLink({}, account),
      await createLink({}, account),
    ];
    const [closedStream, suspendedStream] = [
      await openStream(closedLinkId),
      await openStream(suspendedLinkId),
    ];
    const headers = { ...rig.createSessionHeaders(account), "content-type": "application/json" };
    const path = `/console/api/payment-links/${closedLinkId}/deactivate`;
    expect((await rig.call(path, { method: "POST", headers })).status).toBe(200);
    await waitForState(closedStream, ({ reason }) => reason === "inactive");
    await rig.receiveAccount({ ...account, version: 2, isSuspended: true });
    await waitForState(suspendedStream, ({ reason }) => reason === "account_suspended");
    expect(listStates(closedStream).filter(({ reason }) => reason === "inactive")).toHaveLength(1);
  });

  const bitcoinAccount = () =>
    sampleAccount({
      wallets: [
        {
          id: newId("wallet"),
          walletAddress: generateDescriptor(),
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
    "given a transaction on %s, sends its payer the payment's result even if it is not applied",
    async (chainId, transactionHash, number, createAccount) => {
      const linkId = await createLink({ maxUsage: 1 }, createAccount());
      const { destinationAddress, token } = await rig.retrieve(linkId);
      const created = { amount: "1", chainId, destinationAddress, tokenAddress: token.address };
      await rig.settle(sampleSettlement(linkId, created));
      const [payerStream, otherStream] = [
        await openStream(linkId, { query: `?sourceTransaction=${transactionHash}` }),
        await openStream(linkId),
      ];
      const identity = samplePaymentIdentity({ chainId, transactionHash, linkId, number });
      await rig.settle(sampleSettlement(linkId, { ...created, ...identity }));
      const { payment } = await waitForState(payerStream, (state) => state.payment !== null);
      expect(payment).toMatchObject({ id: identity.id, status: "settled", applied: false });
      expect(listStates(otherStream)).toHaveLength(1);
    },
  );

  test("returns 404 for an unknown link without using a stream slot", async () => {
    for (const id of [newId("plink"), "nothing", newId("tx")]) {
      for (const query of ["", "?sourceTransaction=0xab"]) {
        const path = `/checkout/payment-links/${id}/events${query}`;
        const { status, json } = await rig.call(path);
        expect([status, json.errors[0].code]).toEqual([404, "CANNOT_FIND_PAYMENT_LINK"]);
      }
    }
    expect(await countOpenStreams()).toBe(0);
  });

  test("returns 429 with Retry-After beyond the limit of an address", async () => {
    const id = await createLink();
    for (let count = 0; count < limits.perAddress; count += 1) await openStream(id);
    const response = await rig.call(`/checkout/payment-links/${id}/events`);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "10"]);
    expect((await rig.call(`/checkout/payment-links/${id}`)).status).toBe(200);
  });
});

const startAnotherService = async (url = rig.context.databaseUrl) => {
  const { log } = rig.context;
  const pool = await connectPool({ url, applicationName: "another", connectionsMax: 4, log });
  const metrics = createMetrics("another");
  const config = parseConfig(linksApiConfig, { SETTLEMENT_CHAINS: "8453", SIGN_UP: "closed" });
  const service = createLinksApi({ ...rig.context, databaseUrl: url, pool, metrics }, config);
  const server = await startTestListeners(service, rig.context);
  await service.start();
  return {
    url: server.publicUrl,
    service,
    readFailedReads: async () => {
      const metric = await metrics.getSingleMetric("payment_links_failed_looks_total")?.get();
      return metric?.values[0]?.value ?? 0;
    },
    close: async () => {
      await server.close();
      await service.stop();
      await pool.end();
    },
  };
};

describe("a process that drains", () => {
  test("ends its streams, and a client that reconnects to another process gets the changes in between", async () => {
    const firstService = await startAnotherService();
    const [unpaidLinkId, paidLinkId] = [await createLink(), await createLink()];
    const streams = [
      await openStream(unpaidLinkId, { baseUrl: firstService.url }),
      await openStream(paidLinkId, { baseUrl: firstService.url }),
    ];
    for (const stream of streams) await waitForState(stream, () => true);
    await firstService.close();
    await rig.settle(sampleSettlement(paidLinkId, { amount: "25" }));
    for (const stream of streams)
      await waitUntil("the stream ends", () => stream.endReason() === "whole");
    const [unchangedStream, changedStream] = await Promise.all(
      [unpaidLinkId, paidLinkId].map((id, index) =>
        openStream(id, { headers: { "last-event-id": streams[index]?.events[0]?.["id"] ?? "" } }),
      ),
    );
    if (unchangedStream === undefined || changedStream === undefined)
      throw new Error("a stream did not reconnect");
    await waitForState(changedStream, ({ status }) => status === "completed");
    await waitUntil(
      "the reconnected stream receives an event",
      () => unchangedStream.events.length > 0,
    );
    expect(listStates(unchangedStream)).toEqual([]);
  });
});

describe("while Postgres does not respond", () => {
  test("streams stay open, the failure is recorded in a metric, and later updates include the changes", async () => {
    const proxy = await startTcpProxy(new URL(rig.context.databaseUrl));
    const url = new URL(rig.context.databaseUrl);
    url.port = String(proxy.port);
    const otherService = await startAnotherService(url.href);
    const id = await createLink();
    const stream = await openStream(id, { baseUrl: otherService.url });
    await waitForState(stream, ({ status }) => status === "active");
    proxy.stall();
    await rig.settle(sampleSettlement(id, { amount: "25" }));
    await waitUntil("a check fails", async () => (await otherService.readFailedReads()) > 0);
    expect(stream.endReason()).toBeUndefined();
    await proxy.forward();
    await waitForState(stream, ({ status }) => status === "completed");
    await otherService.close();
    await proxy.kill();
  });
});
