import { expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import type { PaymentLinkState } from "@payment-links/contracts";
import { transact } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig, useRigEach } from "@payment-links/runtime/testing/use-rig";
import { watchReservedAddresses } from "../../events/watch-reserved-addresses.ts";
import { needingBtcd } from "../../testing/bitcoin/needing-btcd.ts";
import { type Front, openFront } from "../../testing/bitcoin/open-front.ts";
import { startWatchRig } from "../../testing/open-watch-rig.ts";
import { openWatchedBitcoin, payeeOf } from "../../testing/open-watched-bitcoin.ts";

const { describe, program } = await needingBtcd();

const Count = z.object({ count: z.int() });
const Audited = z.object({ auditedTo: z.int().nullable() });
const old = 1_000n;
const minuteMs = 60_000;

const chain = useRig(() => openWatchedBitcoin(program));
let front: Front;
const rig = useRigEach(async (keep) => {
  front = keep(await openFront(chain));
  return startWatchRig(chain, {}, [front.url]);
});

/** The address of a link that is made later. */
const drawAddress = async (): Promise<string> => {
  await rig.caughtUp();
  return rig.sampleLink().destinationAddress;
};

/** A link that is made now at an address; the listener has not heard of it. */
const makeLink = (destinationAddress: string, dateCreated = new Date()): PaymentLinkState =>
  rig.sampleLink({ destinationAddress, dateCreated });

const hearNow = async (destinationAddress: string): Promise<PaymentLinkState> => {
  const link = makeLink(destinationAddress);
  await rig.hear(link);
  return link;
};

const reserve = (address: string) =>
  transact(rig.pool, (tx) =>
    watchReservedAddresses(
      tx,
      { chainId: chain.chainId, addresses: [address] },
      // It reads nothing of what comes with the event.
      undefined as never,
    ),
  );

const countStored = async (address: string): Promise<number> => {
  const { count } = await rig.pool.one(sql.type(Count)`
    SELECT count(*)::int AS count FROM chain_transfers WHERE destination_address = ${address}
  `);
  return count;
};

const waitStored = (address: string) =>
  waitUntil("the transfer is stored", async () => (await countStored(address)) > 0);

const waitAudited = (height: number) =>
  waitUntil("the audit has come there", async () => {
    const { auditedTo } = await rig.pool.one(sql.type(Audited)`
      SELECT audited_to::int AS "auditedTo" FROM watchers
    `);
    return auditedTo !== null && auditedTo >= height;
  });

const rescanAll = async () => {
  const { finalizedTo } = await rig.readStatus();
  const answer = await fetch(`${rig.internalUrl}/internal/settlement/rescan`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chainId: chain.chainId, fromBlock: 0, toBlock: finalizedTo }),
  });
  expect(answer.status).toBe(202);
  await waitUntil("the rescan is done", async () => {
    const { count } = await rig.pool.one(sql.type(Count)`
      SELECT count(*)::int AS count FROM rescans
    `);
    return count === 0;
  });
};

/** Lets the audit and a rescan pass, then pays the link: that payment alone is the link's. */
const expectNewMoneyOnly = async (link: PaymentLinkState) => {
  const height = await chain.height();
  await chain.mine(13);
  await waitAudited(height);
  await rescanAll();
  await chain.pay(payeeOf(link, 2_000n));
  await chain.mine();
  await rig.waitStatus(link.id, "settled");
  expect([...new Set(rig.told(link.id).map(({ amount }) => amount))]).toEqual(["0.00002"]);
};

describe("money on Bitcoin that is older than the link at its address", () => {
  test("and stands in a block pays the link neither by the audit nor by a rescan (rule CHAIN-28)", async () => {
    const address = await drawAddress();
    await chain.pay({ to: address, amount: old });
    await chain.mine();
    await rig.caughtUp();
    await expectNewMoneyOnly(await hearNow(address));
  });

  test("and waits to be mined pays the link neither before nor after that (rule CHAIN-28)", async () => {
    const address = await drawAddress();
    await reserve(address);
    await chain.pay({ to: address, amount: old });
    await waitStored(address);
    const link = await hearNow(address);
    await chain.mine();
    await expectNewMoneyOnly(link);
  });

  test("and is mined after the mempool was listed does not pay the link (rule CHAIN-28)", async () => {
    const address = await drawAddress();
    const txid = await chain.pay({ to: address, amount: old });
    front.lie((method, _params, result) => (method === "getrawmempool" ? [txid] : result));
    await chain.mine();
    await rig.caughtUp();
    const link = await hearNow(address);
    const listedCount = front.askedCount("getrawmempool");
    await waitUntil(
      "the mempool is listed twice more",
      () => front.askedCount("getrawmempool") >= listedCount + 2,
    );
    front.beHonest();
    await expectNewMoneyOnly(link);
  });

  test("does not pay the link when a reorg mines it again above the link's height (rule CHAIN-28)", async () => {
    const address = await drawAddress();
    await reserve(address);
    await chain.pay({ to: address, amount: old });
    await chain.mine();
    await waitStored(address);
    await rig.caughtUp();
    const link = await hearNow(address);
    await chain.reorg(1);
    await expectNewMoneyOnly(link);
  });
});

describe("money on Bitcoin that is newer than its link", () => {
  test("pays the link whose event comes 20 blocks late, without an operator (rule CHAIN-29)", async () => {
    const link = makeLink(await drawAddress());
    await chain.pay(payeeOf(link));
    await chain.mine(20);
    await rig.caughtUp();
    await waitAudited((await chain.height()) - 13);
    await rig.hear(link);
    await rig.waitStatus(link.id, "settled");
    expect(rig.statuses(link.id)).toEqual(["settled 0.00001"]);
  });

  test("shows while it waits to be mined as soon as the late event of its link comes", async () => {
    const link = makeLink(await drawAddress());
    await reserve(link.destinationAddress);
    await chain.pay(payeeOf(link));
    await waitStored(link.destinationAddress);
    await rig.hear(link);
    await rig.waitTold(link.id, 1);
    expect(rig.told(link.id)).toMatchObject([{ status: "processing", blockNumber: null }]);
    await chain.mine();
    await rig.waitStatus(link.id, "settled");
  });

  test("pays the link whose maker's clock is an hour ahead", async () => {
    const address = await drawAddress();
    const link = makeLink(address, new Date(Date.now() + 60 * minuteMs));
    await rig.hear(link);
    await chain.pay(payeeOf(link));
    await chain.mine();
    await rig.waitStatus(link.id, "settled");
  });
});
