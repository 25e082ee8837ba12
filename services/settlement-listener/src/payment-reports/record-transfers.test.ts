import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { CheckIntegrityConstraintViolationError, sql } from "slonik";
import { type Transaction, sqlVoid, transact } from "@payment-links/postgres";
import { keccak256Hex } from "@payment-links/chains";
import { Decimal, type PaymentLinkState } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { Transfer } from "../domain/transfer.ts";
import { receiveLink } from "../testing/receive-link.ts";
import {
  deleteChainTransfers,
  deleteUnmatchedTransfers,
  orphanTransfers,
} from "../store/chain-transfers.ts";
import { listDueTransfers, listOrphanedTransfers } from "../store/open-transfers.ts";
import { lockLeadership, acquireLeadership } from "../store/watchers.ts";
import { createRig } from "../testing/create-rig.ts";
import { readEvents, readPayments } from "../testing/read-rows.ts";
import { sampleTransfer } from "../testing/sample-transfer.ts";
import { sampleLink, usdc } from "../testing/samples.ts";
import { recordTransfers, recordStoredTransfers } from "./record-transfers.ts";

const { chainId } = usdc;

const rig = useRig(createRig);
beforeAll(async () => {
  const now = rig.clock.now();
  await acquireLeadership(rig.pool, { chainId, now, until: now });
});

const createLink = (): PaymentLinkState =>
  sampleLink({ paymentReference: randomBytes(16).toString("hex") });

const createTransferTo = (link: PaymentLinkState, overrides: Partial<Transfer> = {}): Transfer =>
  sampleTransfer({ referenceHash: keccak256Hex(link.paymentReference), ...overrides });

const recordTransfersIn = (tx: Transaction, ...transfers: Transfer[]) =>
  recordTransfers(tx, transfers, rig.clock.now());
const recordAll = (...transfers: Transfer[]) =>
  transact(rig.pool, (tx) => recordTransfersIn(tx, ...transfers));
const receiveIn = (tx: Transaction, link: PaymentLinkState) => receiveLink(rig.clock)(tx, { link });
const receive = (link: PaymentLinkState) => transact(rig.pool, (tx) => receiveIn(tx, link));

const orphanTransfersAbove = (block: number) =>
  transact(rig.pool, async (tx) => {
    const orphanedTransfers = await orphanTransfers(tx, chainId, block);
    await recordStoredTransfers(tx, orphanedTransfers, rig.clock.now());
  });

const UpdateCountsRow = z.object({ name: z.string(), updated: z.int(), inPlace: z.int() });

const isDue = async ({ transactionHash }: Transfer, toBlock: number) =>
  (
    await listDueTransfers(rig.pool, chainId, { toBlock, countMax: 1_000, includeDeposits: true })
  ).some((dueTransfer) => dueTransfer.transactionHash === transactionHash);

const isOrphaned = async ({ transactionHash }: Transfer) =>
  (
    await listOrphanedTransfers(rig.pool, chainId, {
      afterSeq: "0",
      countMax: 1_000,
      includeDeposits: true,
    })
  ).some((orphanedTransfer) => orphanedTransfer.transactionHash === transactionHash);

const listPublished = async (link: PaymentLinkState) =>
  (await readEvents(rig.pool, link.id)).map(
    ({ type, data }) => `${type.replace("settlement.", "")} ${data.version} ${data.amount}`,
  );

describe("recordTransfers", () => {
  test("publishes no version again if only the transfer was deleted, for example after a test chain restarted", async () => {
    const [link, otherLink] = [createLink(), createLink()];
    await receive(link);
    await receive(otherLink);
    const seenTransfer = createTransferTo(link);
    await recordAll(seenTransfer);
    await transact(rig.pool, (tx) => deleteChainTransfers(tx, chainId));
    const settledTransfer = { ...seenTransfer, status: "settled" } as const;
    await recordAll(settledTransfer, createTransferTo(otherLink));
    expect(await listPublished(link)).toEqual(["processing 1 1.5", "settled 2 1.5"]);
    expect(await listPublished(otherLink)).toEqual(["processing 1 1.5"]);
    await transact(rig.pool, (tx) => deleteChainTransfers(tx, chainId));
    await recordAll(settledTransfer);
    expect(await listPublished(link)).toHaveLength(2);
  });

  test("publishes each status of a payment once, however often it is found (rule CHAIN-3)", async () => {
    const link = createLink();
    await receive(link);
    const seenTransfer = createTransferTo(link);
    await recordAll(seenTransfer);
    await recordAll(seenTransfer);
    const settledTransfer = {
      ...seenTransfer,
      status: "settled",
      blockNumber: 11,
      blockHash: "0x0b",
    } as const;
    for (const foundTransfer of [settledTransfer, settledTransfer, seenTransfer]) {
      await recordAll(foundTransfer);
    }
    expect(await listPublished(link)).toEqual(["processing 1 1.5", "settled 2 1.5"]);
    expect(
      await readPayments(rig.pool, `${seenTransfer.transactionHash}:${link.id}:0`),
    ).toHaveLength(1);
  });

  test.each(["seen", "settled"] as const)(
    "publishes a %s transfer that was orphaned before its link arrived only once a block holds it again",
    async (status) => {
      const link = createLink();
      const foundTransfer = createTransferTo(link, { status, blockNumber: 900 });
      await recordAll(foundTransfer);
      await orphanTransfersAbove(899);
      await receive(link);
      expect(await listPublished(link)).toEqual([]);
      await recordAll({
        ...foundTransfer,
        blockNumber: 901,
        blockHash: "0x0901",
        status: "settled",
      });
      expect(await listPublished(link)).toEqual(["settled 1 1.5"]);
    },
  );

  test("records two payments of one transaction, even with the same reference", async () => {
    const link = createLink();
    await receive(link);
    const firstTransfer = createTransferTo(link, { status: "settled" });
    await recordAll(firstTransfer, { ...firstTransfer, ordinal: 1, amount: new Decimal(2) });
    expect(await listPublished(link)).toEqual(["settled 1 1.5", "settled 1 2"]);
  });

  test("rejects a payment that an older release writes under its former name", async () => {
    const link = createLink();
    await receive(link);
    const foundTransfer = createTransferTo(link);
    await recordAll(foundTransfer);
    const oldNameUpdate = rig.pool.query(sqlVoid`
      UPDATE payments SET source_id = ${`${foundTransfer.transactionHash}:1`}
      WHERE payment_link_id = ${link.id}
    `);
    await expect(oldNameUpdate).rejects.toThrow(CheckIntegrityConstraintViolationError);
  });

  // Guards against other ids after a restore: a payment that is missing from the dump is found
  // again and must get the id that was published before.
  test("derives the same id for a payment that is found again after it was lost, and another id for another payment", async () => {
    const link = createLink();
    await receive(link);
    const foundTransfer = createTransferTo(link);
    await recordAll(foundTransfer, { ...foundTransfer, ordinal: 1 });
    await rig.pool.query(sqlVoid`DELETE FROM payments WHERE payment_link_id = ${link.id}`);
    await rig.pool.query(sqlVoid`DELETE FROM chain_transfers WHERE payment_link_id = ${link.id}`);
    const settledTransfer = { ...foundTransfer, status: "settled" } as const;
    await recordAll({ ...settledTransfer, ordinal: 1 }, settledTransfer);
    const [firstId, secondId, ...republishedIds] = (await readEvents(rig.pool, link.id)).map(
      ({ data }) => data.id,
    );
    expect(republishedIds).toEqual([secondId, firstId]);
    expect(firstId).not.toBe(secondId);
  });

  test("takes the money from the first settled report and never changes it", async () => {
    const link = createLink();
    await receive(link);
    const seenTransfer = createTransferTo(link);
    await recordAll(seenTransfer);
    await recordAll({ ...seenTransfer, status: "settled", amount: new Decimal("1.4") });
    await recordAll({ ...seenTransfer, status: "settled", amount: new Decimal("9") });
    expect(await listPublished(link)).toEqual(["processing 1 1.5", "settled 2 1.4"]);
  });

  test("publishes a transfer seen before its link as processing, and settles it in the next step (rule CHAIN-8)", async () => {
    for (const status of ["seen", "settled"] as const) {
      const link = createLink();
      const foundTransfer = createTransferTo(link, { status, blockNumber: 40 });
      await recordAll(foundTransfer);
      expect(await listPublished(link)).toEqual([]);
      await receive(link);
      await receive({ ...link, version: 2 });
      expect(await listPublished(link)).toEqual(["processing 1 1.5"]);
      expect(await isDue(foundTransfer, 40)).toBe(true);
    }
  });

  // The order of payments determines which one completes a link, so a restored listener must find
  // the same order.
  test("publishes transfers seen before their link in chain order, in whatever order they were stored", async () => {
    const link = createLink();
    const createBlockTransfers = (blockNumber: number, occurredAt: Date) =>
      Array.from({ length: 12 }, () => createTransferTo(link, { blockNumber, occurredAt }));
    const foundTransfers = [
      ...createBlockTransfers(41, new Date("2026-11-21T09:59:12.000Z")),
      ...createBlockTransfers(40, new Date("2026-11-21T09:59:00.000Z")),
    ];
    await recordAll(...foundTransfers);
    await receive(link);
    const transfersInOrder = foundTransfers.toSorted((a, b) =>
      a.blockNumber === b.blockNumber
        ? a.transactionHash.localeCompare(b.transactionHash)
        : a.blockNumber - b.blockNumber,
    );
    const events = await readEvents(rig.pool, link.id);
    expect(events.map(({ data }) => data.sourceTransaction)).toEqual(
      transfersInOrder.map(({ transactionHash }) => transactionHash),
    );
  });

  test("publishes a payment on another chain than its link's", async () => {
    const link = { ...createLink(), chainId: "1" };
    await recordAll(createTransferTo(link));
    await receive(link);
    expect(await listPublished(link)).toEqual(["processing 1 1.5"]);
  });

  // Guards against dead index entries, which would slow down frequent polls.
  test("settles a payment in place, without an index update for its row or its transfer's", async () => {
    const link = createLink();
    await receive(link);
    const seenTransfer = createTransferTo(link);
    await recordAll(seenTransfer);
    const readUpdateCounts = (tx: Transaction) =>
      tx.any(sql.type(UpdateCountsRow)`
        SELECT relname AS name, n_tup_upd::int AS updated, n_tup_hot_upd::int AS "inPlace"
        FROM pg_stat_xact_user_tables
        WHERE relname IN ('payments', 'chain_transfers') ORDER BY name
      `);
    const updateCounts = await transact(rig.pool, async (tx) => {
      const countsBefore = await readUpdateCounts(tx);
      await recordTransfersIn(tx, { ...seenTransfer, status: "settled" });
      return (await readUpdateCounts(tx)).map(({ name, updated, inPlace }, index) => ({
        name,
        updated: updated - (countsBefore[index]?.updated ?? 0),
        inPlace: inPlace - (countsBefore[index]?.inPlace ?? 0),
      }));
    });
    expect(updateCounts).toEqual([
      { name: "chain_transfers", updated: 0, inPlace: 0 },
      { name: "payments", updated: 1, inPlace: 1 },
    ]);
  });

  test("keeps the time at which a quorum saw a transaction when a later block holds it (rule STATE-15)", async () => {
    const link = createLink();
    await receive(link);
    const seenTransfer = createTransferTo(link, { blockNumber: 900, nonce: 7 });
    const seenAt = rig.clock.now().toISOString();
    await recordAll(seenTransfer);
    await orphanTransfersAbove(899);
    rig.clock.advance(120_000);
    const occurredAt = rig.clock.now();
    const movedTransfer = { ...seenTransfer, blockNumber: 902, blockHash: "0x0d", occurredAt };
    await recordAll(movedTransfer);
    rig.clock.advance(60_000);
    await recordAll({ ...movedTransfer, status: "settled" });
    const events = await readEvents(rig.pool, link.id);
    expect(events.at(-1)).toMatchObject({
      type: "settlement.settled",
      data: { occurredAt: occurredAt.toISOString(), witnessedAt: seenAt },
    });
  });

  test("sets no such time for a block that only one provider has shown", async () => {
    const link = createLink();
    await receive(link);
    const seenTransfer = createTransferTo(link, { blockNumber: 910, nonce: undefined });
    await recordAll(seenTransfer);
    expect((await readEvents(rig.pool, link.id))[0]?.data).not.toHaveProperty("witnessedAt");
    rig.clock.advance(60_000);
    await recordAll({ ...seenTransfer, status: "settled" });
    const witnessedAt = rig.clock.now().toISOString();
    expect((await readEvents(rig.pool, link.id)).at(-1)?.data).toMatchObject({ witnessedAt });
  });

  test("publishes nothing for a payment orphaned while processing, waits, and keeps it one payment when it is back", async () => {
    const link = createLink();
    await receive(link);
    const seenTransfer = createTransferTo(link, { blockNumber: 900 });
    await recordAll(seenTransfer);
    await orphanTransfersAbove(899);
    expect(await listPublished(link)).toEqual(["processing 1 1.5"]);
    expect([await isOrphaned(seenTransfer), await isDue(seenTransfer, 1_000)]).toEqual([
      true,
      false,
    ]);
    const reminedTransfer = { ...seenTransfer, blockNumber: 901, blockHash: "0x0c" };
    await recordAll(reminedTransfer);
    expect([
      await isOrphaned(seenTransfer),
      await isDue(seenTransfer, 900),
      await isDue(seenTransfer, 901),
    ]).toEqual([false, false, true]);
    await recordAll({ ...reminedTransfer, status: "settled" });
    expect([await isOrphaned(seenTransfer), await isDue(seenTransfer, 1_000)]).toEqual([
      false,
      false,
    ]);
    expect(await listPublished(link)).toEqual(["processing 1 1.5", "settled 2 1.5"]);
  });

  test("publishes a failure once, settles the payment if its chain shows it again, and never fails a settled one (rule STATE-6)", async () => {
    const link = createLink();
    await receive(link);
    const [failingTransfer, settledTransfer] = [
      createTransferTo(link),
      createTransferTo(link, { status: "settled" }),
    ];
    await recordAll(failingTransfer, settledTransfer);
    const storedTransfers = [failingTransfer, settledTransfer].map((foundTransfer) => ({
      ...foundTransfer,
      nonce: 7,
      isOrphaned: false,
      paymentLinkId: link.id,
    }));
    const failTransfers = () =>
      transact(rig.pool, (tx) =>
        recordStoredTransfers(tx, storedTransfers, rig.clock.now(), () => "failed"),
      );
    await failTransfers();
    await failTransfers();
    await recordAll({ ...failingTransfer, status: "settled" });
    expect(await listPublished(link)).toEqual([
      "processing 1 1.5",
      "settled 1 1.5",
      "failed 2 1.5",
      "settled 3 1.5",
    ]);
  });

  test("makes a transfer due up to its block and no earlier", async () => {
    const link = createLink();
    await receive(link);
    const transfer = createTransferTo(link, { blockNumber: 500 });
    await recordAll(transfer);
    expect([await isDue(transfer, 499), await isDue(transfer, 500)]).toEqual([false, true]);
  });

  test("deletes unmatched transfers one day after they were seen if they are final, and not before", async () => {
    const links = [createLink(), createLink(), createLink()] as const;
    await receive(links[2]);
    await recordAll(createTransferTo(links[0], { status: "settled" }));
    await recordAll(createTransferTo(links[2], { status: "settled" }));
    const dayMs = 24 * 60 * 60_000;
    rig.clock.advance(1);
    await recordAll(createTransferTo(links[1], { status: "settled" }));
    const seenBefore = new Date(rig.clock.now().getTime());
    rig.clock.advance(dayMs);
    await transact(rig.pool, (tx) =>
      deleteUnmatchedTransfers(tx, chainId, { seenBefore, finalizedTo: 10, countMax: 10_000 }),
    );
    await receive(links[0]);
    await receive(links[1]);
    expect(await Promise.all(links.map(listPublished))).toEqual([
      [],
      ["processing 1 1.5"],
      ["settled 1 1.5"],
    ]);
  });

  test("keeps unmatched transfers while their block is not final (rule CHAIN-8)", async () => {
    const link = createLink();
    await recordAll(createTransferTo(link, { blockNumber: 70 }));
    const seenBefore = new Date(rig.clock.now().getTime() + 1);
    const deleteUnmatched = (finalizedTo: number) =>
      transact(rig.pool, (tx) =>
        deleteUnmatchedTransfers(tx, chainId, { seenBefore, finalizedTo, countMax: 10_000 }),
      );
    await deleteUnmatched(69);
    await receive(link);
    expect(await listPublished(link)).toEqual(["processing 1 1.5"]);
  });

  // Guards against a race between a transfer and its link. Each side must find the other.
  test("loses and duplicates nothing when transfers and links arrive at the same time, in 40 rounds", async () => {
    for (let round = 0; round < 40; round += 1) {
      const links = [createLink(), createLink(), createLink()];
      const foundTransfers = links.flatMap((link) => [
        createTransferTo(link),
        createTransferTo(link),
      ]);
      const settledTransfers = foundTransfers.map(
        (transfer) => ({ ...transfer, status: "settled" }) as const,
      );
      const watchChain = async () => {
        for (const transfers of [foundTransfers, settledTransfers]) {
          await transact(rig.pool, async (tx) => {
            await lockLeadership(tx, { chainId, token: "1" });
            await recordTransfersIn(tx, ...transfers);
          });
        }
      };
      const allWorks = [watchChain, ...links.map((link) => () => receive(link))];
      await Promise.all((round % 2 === 0 ? allWorks : allWorks.toReversed()).map((work) => work()));
      // The next step settles the transfers that a link has claimed.
      await recordAll(...settledTransfers);
      for (const link of links) {
        const events = await readEvents(rig.pool, link.id);
        const latestBySourceId = new Map(events.map(({ data }) => [data.sourceId, data]));
        expect([round, latestBySourceId.size]).toEqual([round, 2]);
        for (const { status, version } of latestBySourceId.values()) {
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
