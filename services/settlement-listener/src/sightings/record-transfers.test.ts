import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { CheckIntegrityConstraintViolationError, sql } from "slonik";
import { type Transaction, nothing, transact } from "@payment-links/postgres";
import { Decimal, type PaymentLinkState, keccak256Hex } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { ChainTransfer } from "../domain/chain-transfer.ts";
import { hearLink } from "../testing/hear-link.ts";
import {
  deleteChainTransfers,
  deleteUnmatchedTransfers,
  orphanTransfers,
} from "../store/chain-transfers.ts";
import { listDue, listLost } from "../store/open-transfers.ts";
import { lockLead, takeLead } from "../store/watchers.ts";
import { openRig } from "../testing/open-rig.ts";
import { readEvents, readPayments } from "../testing/read-rows.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { sampleLink, usdc } from "../testing/samples.ts";
import { recordTransfers, recordStoredTransfers } from "./record-transfers.ts";

const { chainId } = usdc;

const rig = useRig(openRig);
beforeAll(async () => {
  const now = rig.clock.now();
  await takeLead(rig.pool, { chainId, now, until: now });
});

const aLink = (): PaymentLinkState =>
  sampleLink({ paymentReference: randomBytes(16).toString("hex") });

const transferTo = (link: PaymentLinkState, change: Partial<ChainTransfer> = {}): ChainTransfer =>
  sampleTransfer({ referenceHash: keccak256Hex(link.paymentReference), ...change });

const recordIn = (tx: Transaction, ...transfers: ChainTransfer[]) =>
  recordTransfers(tx, transfers, rig.clock.now());
const record = (...transfers: ChainTransfer[]) =>
  transact(rig.pool, (tx) => recordIn(tx, ...transfers));
const hearIn = (tx: Transaction, link: PaymentLinkState) => hearLink(rig.clock)(tx, { link });
const hear = (link: PaymentLinkState) => transact(rig.pool, (tx) => hearIn(tx, link));

const orphanAbove = (block: number) =>
  transact(rig.pool, async (tx) => {
    const orphaned = await orphanTransfers(tx, chainId, block);
    await recordStoredTransfers(tx, orphaned, rig.clock.now());
  });

const Written = z.object({ name: z.string(), updated: z.int(), inPlace: z.int() });

const isDue = async ({ transactionHash }: ChainTransfer, toBlock: number) =>
  (await listDue(rig.pool, chainId, { toBlock, countMax: 1_000, withDeposits: true })).some(
    (due) => due.transactionHash === transactionHash,
  );

const isLost = async ({ transactionHash }: ChainTransfer) =>
  (await listLost(rig.pool, chainId, { afterSeq: "0", countMax: 1_000, withDeposits: true })).some(
    (lost) => lost.transactionHash === transactionHash,
  );

const told = async (link: PaymentLinkState) =>
  (await readEvents(rig.pool, link.id)).map(
    ({ type, data }) => `${type.replace("settlement.", "")} ${data.version} ${data.amount}`,
  );

describe("recordTransfers", () => {
  test("tells no payment anew whose transfer alone is gone, as where a chain of tests began anew", async () => {
    const [link, other] = [aLink(), aLink()];
    await hear(link);
    await hear(other);
    const seen = transferTo(link);
    await record(seen);
    await transact(rig.pool, (tx) => deleteChainTransfers(tx, chainId));
    const settled = { ...seen, state: "settled" } as const;
    await record(settled, transferTo(other));
    expect(await told(link)).toEqual(["processing 1 1.5", "settled 2 1.5"]);
    expect(await told(other)).toEqual(["processing 1 1.5"]);
    await transact(rig.pool, (tx) => deleteChainTransfers(tx, chainId));
    await record(settled);
    expect(await told(link)).toHaveLength(2);
  });

  test("tells of a payment at each state once, however often it is found (rule CHAIN-3)", async () => {
    const link = aLink();
    await hear(link);
    const seen = transferTo(link);
    await record(seen);
    await record(seen);
    const settled = { ...seen, state: "settled", blockNumber: 11, blockHash: "0x0b" } as const;
    for (const found of [settled, settled, seen]) {
      await record(found);
    }
    expect(await told(link)).toEqual(["processing 1 1.5", "settled 2 1.5"]);
    expect(await readPayments(rig.pool, `${seen.transactionHash}:${link.id}:0`)).toHaveLength(1);
  });

  test.each(["seen", "settled"] as const)(
    "one that was %s and taken away before its link was heard of is no money until it is back",
    async (state) => {
      const link = aLink();
      const found = transferTo(link, { state, blockNumber: 900 });
      await record(found);
      await orphanAbove(899);
      await hear(link);
      expect(await told(link)).toEqual([]);
      await record({ ...found, blockNumber: 901, blockHash: "0x0901", state: "settled" });
      expect(await told(link)).toEqual(["settled 1 1.5"]);
    },
  );

  test("two payments of one transaction are two, also at one reference", async () => {
    const link = aLink();
    await hear(link);
    const first = transferTo(link, { state: "settled" });
    await record(first, { ...first, ordinal: 1, amount: new Decimal(2) });
    expect(await told(link)).toEqual(["settled 1 1.5", "settled 1 2"]);
  });

  test("a process of before the upgrade can write no payment under its old name", async () => {
    const link = aLink();
    await hear(link);
    const found = transferTo(link);
    await record(found);
    const old = rig.pool.query(nothing`
      UPDATE payments SET source_id = ${`${found.transactionHash}:1`}
      WHERE payment_link_id = ${link.id}
    `);
    await expect(old).rejects.toThrow(CheckIntegrityConstraintViolationError);
  });

  // Guards against a dump: what it lacks is found again, and must be the payment that was told.
  test("one that is found again by who has lost it has the same id, and another has another", async () => {
    const link = aLink();
    await hear(link);
    const found = transferTo(link);
    await record(found, { ...found, ordinal: 1 });
    await rig.pool.query(nothing`DELETE FROM payments WHERE payment_link_id = ${link.id}`);
    await rig.pool.query(nothing`DELETE FROM chain_transfers WHERE payment_link_id = ${link.id}`);
    const settled = { ...found, state: "settled" } as const;
    await record({ ...settled, ordinal: 1 }, settled);
    const [first, second, ...again] = (await readEvents(rig.pool, link.id)).map(
      ({ data }) => data.id,
    );
    expect(again).toEqual([second, first]);
    expect(first).not.toBe(second);
  });

  test("the settled sight is the truth about the money, and stays it", async () => {
    const link = aLink();
    await hear(link);
    const seen = transferTo(link);
    await record(seen);
    await record({ ...seen, state: "settled", amount: new Decimal("1.4") });
    await record({ ...seen, state: "settled", amount: new Decimal("9") });
    expect(await told(link)).toEqual(["processing 1 1.5", "settled 2 1.4"]);
  });

  test("what was seen before its link is told with it, and settles in the next step (rule CHAIN-8)", async () => {
    for (const state of ["seen", "settled"] as const) {
      const link = aLink();
      const found = transferTo(link, { state, blockNumber: 40 });
      await record(found);
      expect(await told(link)).toEqual([]);
      await hear(link);
      await hear({ ...link, version: 2 });
      expect(await told(link)).toEqual(["processing 1 1.5"]);
      expect(await isDue(found, 40)).toBe(true);
    }
  });

  // In this order they count, and a restored listener must find the same.
  test("what was seen before its link is told in the order of the chain, whatever order it was stored in", async () => {
    const link = aLink();
    const ofBlock = (blockNumber: number, occurredAt: Date) =>
      Array.from({ length: 12 }, () => transferTo(link, { blockNumber, occurredAt }));
    const found = [
      ...ofBlock(41, new Date("2026-11-21T09:59:12.000Z")),
      ...ofBlock(40, new Date("2026-11-21T09:59:00.000Z")),
    ];
    await record(...found);
    await hear(link);
    const inOrder = found.toSorted((a, b) =>
      a.blockNumber === b.blockNumber
        ? a.transactionHash.localeCompare(b.transactionHash)
        : a.blockNumber - b.blockNumber,
    );
    const events = await readEvents(rig.pool, link.id);
    expect(events.map(({ data }) => data.sourceTransaction)).toEqual(
      inOrder.map(({ transactionHash }) => transactionHash),
    );
  });

  test("a payment on another chain than its link's is told as well", async () => {
    const link = { ...aLink(), chainId: "1" };
    await record(transferTo(link));
    await hear(link);
    expect(await told(link)).toEqual(["processing 1 1.5"]);
  });

  // Guards against dead index entries, of which each would outlive many polls.
  test("a payment settles in place: neither its row nor its transfer's touches an index", async () => {
    const link = aLink();
    await hear(link);
    const seen = transferTo(link);
    await record(seen);
    const written = (tx: Transaction) =>
      tx.any(sql.type(Written)`
        SELECT relname AS name, n_tup_upd::int AS updated, n_tup_hot_upd::int AS "inPlace"
        FROM pg_stat_xact_user_tables
        WHERE relname IN ('payments', 'chain_transfers') ORDER BY name
      `);
    const changes = await transact(rig.pool, async (tx) => {
      const before = await written(tx);
      await recordIn(tx, { ...seen, state: "settled" });
      return (await written(tx)).map(({ name, updated, inPlace }, index) => ({
        name,
        updated: updated - (before[index]?.updated ?? 0),
        inPlace: inPlace - (before[index]?.inPlace ?? 0),
      }));
    });
    expect(changes).toEqual([
      { name: "chain_transfers", updated: 0, inPlace: 0 },
      { name: "payments", updated: 1, inPlace: 1 },
    ]);
  });

  test("what a quorum saw in a block keeps that moment when a later block holds it (rule STATE-15)", async () => {
    const link = aLink();
    await hear(link);
    const seen = transferTo(link, { blockNumber: 900, nonce: 7 });
    const seenAt = rig.clock.now().toISOString();
    await record(seen);
    await orphanAbove(899);
    rig.clock.advance(120_000);
    const occurredAt = rig.clock.now();
    const moved = { ...seen, blockNumber: 902, blockHash: "0x0d", occurredAt };
    await record(moved);
    rig.clock.advance(60_000);
    await record({ ...moved, state: "settled" });
    const events = await readEvents(rig.pool, link.id);
    expect(events.at(-1)).toMatchObject({
      type: "settlement.settled",
      data: { occurredAt: occurredAt.toISOString(), witnessedAt: seenAt },
    });
  });

  test("what one provider alone saw in a block has no such moment before others see it", async () => {
    const link = aLink();
    await hear(link);
    const seen = transferTo(link, { blockNumber: 910, nonce: undefined });
    await record(seen);
    expect((await readEvents(rig.pool, link.id))[0]?.data).not.toHaveProperty("witnessedAt");
    rig.clock.advance(60_000);
    await record({ ...seen, state: "settled" });
    const witnessedAt = rig.clock.now().toISOString();
    expect((await readEvents(rig.pool, link.id)).at(-1)?.data).toMatchObject({ witnessedAt });
  });

  test("what is orphaned while processing is told of by nobody, waits, and is one payment when it is back", async () => {
    const link = aLink();
    await hear(link);
    const seen = transferTo(link, { blockNumber: 900 });
    await record(seen);
    await orphanAbove(899);
    expect(await told(link)).toEqual(["processing 1 1.5"]);
    expect([await isLost(seen), await isDue(seen, 1_000)]).toEqual([true, false]);
    const back = { ...seen, blockNumber: 901, blockHash: "0x0c" };
    await record(back);
    expect([await isLost(seen), await isDue(seen, 900), await isDue(seen, 901)]).toEqual([
      false,
      false,
      true,
    ]);
    await record({ ...back, state: "settled" });
    expect([await isLost(seen), await isDue(seen, 1_000)]).toEqual([false, false]);
    expect(await told(link)).toEqual(["processing 1 1.5", "settled 2 1.5"]);
  });

  test("what is orphaned after it settled keeps its credit, and is flagged until it is back", async () => {
    const link = aLink();
    await hear(link);
    const settled = transferTo(link, { blockNumber: 800, state: "settled" });
    await record(settled);
    await orphanAbove(799);
    await record({ ...settled, blockNumber: 801 });
    const events = await readEvents(rig.pool, link.id);
    expect(events.map(({ type, data }) => [type, data.version, data.isOrphaned])).toEqual([
      ["settlement.settled", 1, false],
      ["settlement.settled", 2, true],
      ["settlement.settled", 3, false],
    ]);
  });

  test("a failure is told once, what its chain shows again settles, and what has settled cannot fail (rule STATE-6)", async () => {
    const link = aLink();
    await hear(link);
    const [lost, settled] = [transferTo(link), transferTo(link, { state: "settled" })];
    await record(lost, settled);
    const stored = [lost, settled].map((found) => ({
      ...found,
      nonce: 7,
      isOrphaned: false,
      paymentLinkId: link.id,
    }));
    const fail = () =>
      transact(rig.pool, (tx) =>
        recordStoredTransfers(tx, stored, rig.clock.now(), () => "failed"),
      );
    await fail();
    await fail();
    await record({ ...lost, state: "settled" });
    expect(await told(link)).toEqual([
      "processing 1 1.5",
      "settled 1 1.5",
      "failed 2 1.5",
      "settled 3 1.5",
    ]);
  });

  test("is due up to the block of the policy, and no further", async () => {
    const link = aLink();
    await hear(link);
    const transfer = transferTo(link, { blockNumber: 500 });
    await record(transfer);
    expect([await isDue(transfer, 499), await isDue(transfer, 500)]).toEqual([false, true]);
  });

  test("what no link came for is forgotten a day after it was final, and not before", async () => {
    const links = [aLink(), aLink(), aLink()] as const;
    await hear(links[2]);
    await record(transferTo(links[0], { state: "settled" }));
    await record(transferTo(links[2], { state: "settled" }));
    const dayMs = 24 * 60 * 60_000;
    rig.clock.advance(1);
    await record(transferTo(links[1], { state: "settled" }));
    const before = new Date(rig.clock.now().getTime());
    rig.clock.advance(dayMs);
    await transact(rig.pool, (tx) =>
      deleteUnmatchedTransfers(tx, chainId, { before, finalizedTo: 10, countMax: 10_000 }),
    );
    await hear(links[0]);
    await hear(links[1]);
    expect(await Promise.all(links.map(told))).toEqual([
      [],
      ["processing 1 1.5"],
      ["settled 1 1.5"],
    ]);
  });

  test("what no link came for is kept while its block is not final (rule CHAIN-8)", async () => {
    const link = aLink();
    await record(transferTo(link, { blockNumber: 70 }));
    const before = new Date(rig.clock.now().getTime() + 1);
    const forget = (finalizedTo: number) =>
      transact(rig.pool, (tx) =>
        deleteUnmatchedTransfers(tx, chainId, { before, finalizedTo, countMax: 10_000 }),
      );
    await forget(69);
    await hear(link);
    expect(await told(link)).toEqual(["processing 1 1.5"]);
  });

  // Guards against the race between a chain and a new link: neither side may miss the other.
  test("transfers and links that arrive at once lose nothing and double nothing, in 40 rounds", async () => {
    for (let round = 0; round < 40; round += 1) {
      const links = [aLink(), aLink(), aLink()];
      const found = links.flatMap((link) => [transferTo(link), transferTo(link)]);
      const settled = found.map((transfer) => ({ ...transfer, state: "settled" }) as const);
      const watching = async () => {
        for (const transfers of [found, settled]) {
          await transact(rig.pool, async (tx) => {
            await lockLead(tx, { chainId, token: "1" });
            await recordIn(tx, ...transfers);
          });
        }
      };
      const works = [watching, ...links.map((link) => () => hear(link))];
      await Promise.all((round % 2 === 0 ? works : works.toReversed()).map((work) => work()));
      // The next step, in which what a link has claimed settles.
      await record(...settled);
      for (const link of links) {
        const events = await readEvents(rig.pool, link.id);
        const last = new Map(events.map(({ data }) => [data.sourceId, data]));
        expect([round, last.size]).toEqual([round, 2]);
        for (const { status, version } of last.values()) {
          expect([
            round,
            status,
            events.filter(({ data }) => data.status === "settled").length,
          ]).toEqual([round, "settled", 2]);
          expect(version).toBeLessThanOrEqual(2);
        }
      }
    }
  });
});
