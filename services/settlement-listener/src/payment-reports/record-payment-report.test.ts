import { describe, expect, test } from "@jest/globals";
import { type Transaction, transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { Decimal, newId } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { PaymentReport } from "../domain/payment.ts";
import { receiveLink } from "../testing/receive-link.ts";
import { lockPayment } from "../store/payments.ts";
import { createRig } from "../testing/create-rig.ts";
import { readEvents, readPayments } from "../testing/read-rows.ts";
import { sampleLink, samplePaymentReport } from "../testing/samples.ts";

import { recordNotice } from "./record-notice.ts";
import { recordPaymentReport } from "./record-payment-report.ts";

const rig = useRig(createRig);

const recordReportIn = (tx: Transaction, report: PaymentReport) =>
  recordPaymentReport(tx, report, { now: rig.clock.now(), tokenDecimals: 6 });

const recordReport = (report: PaymentReport) =>
  recordNotice(rig.pool, report, { now: rig.clock.now(), tokenDecimals: 6 });

const receiveIn = (tx: Transaction, link: ReturnType<typeof sampleLink>) =>
  receiveLink(rig.clock)(tx, { link });

/** Runs work in a transaction that stays open until `commit` is called. */
const holdTransactionOpen = async (runWork: (tx: Transaction) => Promise<unknown>) => {
  const workDone = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const transactionEnd = transact(rig.pool, async (tx) => {
    await runWork(tx);
    workDone.resolve();
    await released.promise;
  });
  await Promise.race([workDone.promise, transactionEnd]);
  return {
    commit: () => {
      released.resolve();
      return transactionEnd;
    },
  };
};

const waitForLockWait = () =>
  waitUntil("a transaction waits for a lock", async () => (await countLockWaits(rig.pool)) > 0);

/** Shuffles deterministically, so that a failed round can be repeated. */
const shuffle = <Item>(items: readonly Item[], seed: number): Item[] => {
  const shuffledItems = [...items];
  let state = seed;
  for (let index = shuffledItems.length - 1; index > 0; index -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const otherIndex = state % (index + 1);
    const [a, b] = [shuffledItems[index], shuffledItems[otherIndex]];
    if (a === undefined || b === undefined) continue;
    shuffledItems[index] = b;
    shuffledItems[otherIndex] = a;
  }
  return shuffledItems;
};

describe("recordPaymentReport", () => {
  test("makes a link wait while a payment is being deferred for it, and then publishes the payment", async () => {
    const link = sampleLink();
    const deferring = await holdTransactionOpen((tx) =>
      recordReportIn(tx, samplePaymentReport({ paymentLinkId: link.id })),
    );
    const receiving = transact(rig.pool, (tx) => receiveIn(tx, link));
    await waitForLockWait();
    await deferring.commit();
    await receiving;
    expect(await readEvents(rig.pool, link.id)).toMatchObject([{ data: { version: 1 } }]);
  });

  test("makes a report wait while its link is being received, and then publishes it immediately", async () => {
    const link = sampleLink();
    const receiving = await holdTransactionOpen((tx) => receiveIn(tx, link));
    const recording = recordReport(samplePaymentReport({ paymentLinkId: link.id }));
    await waitForLockWait();
    await receiving.commit();
    expect(await recording).toMatchObject({ outcome: "first", payment: { version: 1 } });
    expect(await readEvents(rig.pool, link.id)).toHaveLength(1);
  });

  test("keeps the versions of a deferred payment that settles while its link is being received", async () => {
    const link = sampleLink();
    const processingReport = samplePaymentReport({ paymentLinkId: link.id, status: "processing" });
    await recordReport(processingReport);
    const receiving = await holdTransactionOpen((tx) => receiveIn(tx, link));
    const recording = recordReport({ ...processingReport, status: "settled" });
    await waitForLockWait();
    await receiving.commit();
    await recording;
    const events = await readEvents(rig.pool, link.id);
    expect(events.map(({ type, data }) => [type, data.version])).toEqual([
      ["settlement.processing", 1],
      ["settlement.settled", 2],
    ]);
  });

  test("makes no notices of two links wait for each other, nor two payments of one link", async () => {
    const link = sampleLink();
    await transact(rig.pool, (tx) => receiveIn(tx, link));
    const unknownLinkId = newId("plink");
    for (const paymentLinkId of [link.id, unknownLinkId]) {
      const heldTransaction = await holdTransactionOpen((tx) =>
        recordReportIn(tx, samplePaymentReport({ paymentLinkId })),
      );
      await recordReport(samplePaymentReport({ paymentLinkId }));
      await recordReport(samplePaymentReport());
      await heldTransaction.commit();
    }
  });

  test("stores one row for two simultaneous first notices of a payment and treats the second as a repeat", async () => {
    const report = samplePaymentReport();
    const heldTransaction = await holdTransactionOpen((tx) => recordReportIn(tx, report));
    const secondResult = recordReport({ ...report, paymentLinkId: newId("plink") });
    await waitForLockWait();
    await heldTransaction.commit();
    expect(await secondResult).toMatchObject({ outcome: "repeated", isConflicting: true });
    expect(await readPayments(rig.pool, report.sourceId)).toMatchObject([
      { paymentLinkId: report.paymentLinkId },
    ]);
  });

  test("makes a first notice, which takes one statement, wait for a transaction that records the same payment", async () => {
    const link = sampleLink();
    await transact(rig.pool, (tx) => receiveIn(tx, link));
    const report = samplePaymentReport({ paymentLinkId: link.id });
    const heldTransaction = await holdTransactionOpen((tx) => lockPayment(tx, report));
    const recording = recordReport(report);
    await waitForLockWait();
    await heldTransaction.commit();
    expect(await recording).toMatchObject({ outcome: "first", payment: { version: 1 } });
    expect(await readEvents(rig.pool, link.id)).toHaveLength(1);
  });

  test("settles the payment of the first link if the final notice names another link", async () => {
    const [firstLink, otherLink] = [sampleLink(), sampleLink()];
    for (const link of [firstLink, otherLink])
      await transact(rig.pool, (tx) => receiveIn(tx, link));
    const processingReport = samplePaymentReport({
      paymentLinkId: firstLink.id,
      status: "processing",
    });
    await recordReport(processingReport);
    await recordReport({ ...processingReport, status: "settled", paymentLinkId: otherLink.id });
    expect(await readEvents(rig.pool, firstLink.id)).toMatchObject([
      { data: { status: "processing" } },
      { data: { status: "settled", paymentLinkId: firstLink.id } },
    ]);
    expect(await readEvents(rig.pool, otherLink.id)).toEqual([]);
  });

  test("leaves neither a row nor an event after a failed transaction (rule KEEP-4)", async () => {
    const link = sampleLink();
    await transact(rig.pool, (tx) => receiveIn(tx, link));
    const report = samplePaymentReport({ paymentLinkId: link.id });
    const failingTransaction = transact(rig.pool, async (tx) => {
      await recordReportIn(tx, report);
      throw new Error("the process dies here");
    });
    await expect(failingTransaction).rejects.toThrow("the process dies here");
    expect(await readPayments(rig.pool, report.sourceId)).toEqual([]);
    expect(await readEvents(rig.pool, link.id)).toEqual([]);
  });

  // Guards against a race between a notice and its link. Each side must find the other, in whatever
  // order their statements run. One transaction receives several links, as in the consumer.
  test("loses and duplicates nothing when notices and links arrive at the same time, in 60 rounds", async () => {
    for (let round = 1; round <= 60; round += 1) {
      const links = [1, 2, 3].map(() => sampleLink());
      const processingReport = links.flatMap((link) =>
        [1, 2, 3].map(() => samplePaymentReport({ paymentLinkId: link.id, status: "processing" })),
      );
      const settled = processingReport.map((report): PaymentReport => ({
        ...report,
        status: "settled",
        amount: new Decimal(round),
      }));
      const reportWorks = [...processingReport, ...settled, ...settled].map(
        (report) => () => recordReport(report),
      );
      const receiving = [1, 2].map(
        (version) => () =>
          transact(rig.pool, async (tx) => {
            for (const link of links) await receiveIn(tx, { ...link, version });
          }),
      );
      const allWorks = shuffle<() => Promise<unknown>>([...reportWorks, ...receiving], round);
      await Promise.all(allWorks.map((runWork) => runWork()));

      for (const link of links) {
        const events = await readEvents(rig.pool, link.id);
        const linkReports = settled.filter((report) => report.paymentLinkId === link.id);
        for (const { sourceId } of linkReports) {
          const paymentEvents = events.filter((event) => event.data.sourceId === sourceId);
          expect([round, ...paymentEvents.map((event) => event.data.version)]).toEqual([
            round,
            ...(paymentEvents.length === 2 ? [1, 2] : [1]),
          ]);
          expect(paymentEvents.at(-1)).toMatchObject({
            data: { status: "settled", amount: `${round}` },
          });
          expect(await readPayments(rig.pool, sourceId)).toHaveLength(1);
        }
      }
    }
  });
});
