import { expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import type { PaymentLinkState } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { requireBtcd } from "@payment-links/local-chains/testing/require-btcd";
import {
  type NodeProxy,
  startNodeProxy,
} from "@payment-links/local-chains/bitcoin/start-node-proxy";
import { insertOwnerAddresses } from "../store/owner-addresses.ts";
import { startWatchRig } from "../testing/create-watch-rig.ts";
import { startWatchedBitcoin, toPayee } from "../testing/start-watched-bitcoin.ts";

const { describe, program } = await requireBtcd();

const CountRow = z.object({ count: z.int() });
const AuditedRow = z.object({ auditedTo: z.int().nullable() });
const oldAmount = 1_000n;
const minuteMs = 60_000;

const chain = useRig(() => startWatchedBitcoin(program));
let front: NodeProxy;
const rig = useRigEach(async (keep) => {
  front = keep(await startNodeProxy(chain));
  return startWatchRig(chain, {}, [front.url]);
});

/** Returns an address for which a link is created later. */
const sampleAddress = async (): Promise<string> => {
  await rig.waitUntilScanned();
  return rig.sampleLink().destinationAddress;
};

/** Creates a link at an address, without the listener receiving it yet. */
const createLink = (destinationAddress: string, dateCreated = new Date()): PaymentLinkState =>
  rig.sampleLink({ destinationAddress, dateCreated });

const receiveLinkNow = async (destinationAddress: string): Promise<PaymentLinkState> => {
  const link = createLink(destinationAddress);
  await rig.receiveLinks(link);
  return link;
};

const reserveAddress = (address: string) =>
  transact(rig.pool, (tx) => insertOwnerAddresses(tx, chain.chainId, [address]));

const countStored = async (address: string): Promise<number> => {
  const { count } = await rig.pool.one(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM chain_transfers WHERE destination_address = ${address}
  `);
  return count;
};

const waitForStoredTransfer = (address: string) =>
  waitUntil("the transfer is stored", async () => (await countStored(address)) > 0);

const waitUntilAudited = (height: number) =>
  waitUntil("the audit has read the block", async () => {
    const { auditedTo } = await rig.pool.one(sql.type(AuditedRow)`
      SELECT audited_to::int AS "auditedTo" FROM watchers
    `);
    return auditedTo !== null && auditedTo >= height;
  });

const rescanAll = async () => {
  const { finalizedTo } = await rig.readStatus();
  const response = await fetch(`${rig.internalUrl}/internal/settlement/rescan`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chainId: chain.chainId, fromBlock: 0, toBlock: finalizedTo }),
  });
  expect(response.status).toBe(202);
  await waitUntil("the rescan is done", async () => {
    const { count } = await rig.pool.one(sql.type(CountRow)`
      SELECT count(*)::int AS count FROM rescans
    `);
    return count === 0;
  });
};

/**
 * Waits for the audit and a rescan, then pays the link. Expects the link to have only that payment.
 */
const expectNewPaymentsOnly = async (link: PaymentLinkState) => {
  const height = await chain.readHeight();
  await chain.mine(13);
  await waitUntilAudited(height);
  await rescanAll();
  await chain.pay(toPayee(link, 2_000n));
  await chain.mine();
  await rig.waitForStatus(link.id, "settled");
  expect([...new Set(rig.publishedPayments(link.id).map(({ amount }) => amount))]).toEqual([
    "0.00002",
  ]);
};

describe("a Bitcoin payment older than the link at its address", () => {
  test("does not pay the link from a block, neither by the audit nor by a rescan (rule CHAIN-28)", async () => {
    const address = await sampleAddress();
    await chain.pay({ to: address, amount: oldAmount });
    await chain.mine();
    await rig.waitUntilScanned();
    await expectNewPaymentsOnly(await receiveLinkNow(address));
  });

  test("does not pay the link from the mempool, neither before nor after it is mined (rule CHAIN-28)", async () => {
    const address = await sampleAddress();
    await reserveAddress(address);
    await chain.pay({ to: address, amount: oldAmount });
    await waitForStoredTransfer(address);
    const link = await receiveLinkNow(address);
    await chain.mine();
    await expectNewPaymentsOnly(link);
  });

  test("does not pay the link if it is mined after the mempool was listed (rule CHAIN-28)", async () => {
    const address = await sampleAddress();
    const txid = await chain.pay({ to: address, amount: oldAmount });
    front.misreport((method, _params, result) => (method === "getrawmempool" ? [txid] : result));
    await chain.mine();
    await rig.waitUntilScanned();
    const link = await receiveLinkNow(address);
    const listedCount = front.getRequestCount("getrawmempool");
    await waitUntil(
      "the mempool is listed twice more",
      () => front.getRequestCount("getrawmempool") >= listedCount + 2,
    );
    front.clearFaults();
    await expectNewPaymentsOnly(link);
  });

  test("does not pay the link when a reorg mines it again above the link's height (rule CHAIN-28)", async () => {
    const address = await sampleAddress();
    await reserveAddress(address);
    await chain.pay({ to: address, amount: oldAmount });
    await chain.mine();
    await waitForStoredTransfer(address);
    await rig.waitUntilScanned();
    const link = await receiveLinkNow(address);
    await chain.reorg(1);
    await expectNewPaymentsOnly(link);
  });
});

describe("a Bitcoin payment newer than its link", () => {
  test("pays a link whose event arrives 20 blocks late, without an operator (rule CHAIN-29)", async () => {
    const link = createLink(await sampleAddress());
    await chain.pay(toPayee(link));
    await chain.mine(20);
    await rig.waitUntilScanned();
    await waitUntilAudited((await chain.readHeight()) - 13);
    await rig.receiveLinks(link);
    await rig.waitForStatus(link.id, "settled");
    expect(rig.publishedStatuses(link.id)).toEqual(["settled 0.00001"]);
  });

  test("is reported from the mempool as soon as the late event of its link arrives", async () => {
    const link = createLink(await sampleAddress());
    await reserveAddress(link.destinationAddress);
    await chain.pay(toPayee(link));
    await waitForStoredTransfer(link.destinationAddress);
    await rig.receiveLinks(link);
    await rig.waitForPublished(link.id, 1);
    expect(rig.publishedPayments(link.id)).toMatchObject([
      { status: "processing", blockNumber: null },
    ]);
    await chain.mine();
    await rig.waitForStatus(link.id, "settled");
  });

  test("pays a link whose creation time is an hour ahead of the listener's clock", async () => {
    const address = await sampleAddress();
    const link = createLink(address, new Date(Date.now() + 60 * minuteMs));
    await rig.receiveLinks(link);
    await chain.pay(toPayee(link));
    await chain.mine();
    await rig.waitForStatus(link.id, "settled");
  });
});
