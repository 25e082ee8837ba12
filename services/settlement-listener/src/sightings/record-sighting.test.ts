import { describe, expect, test } from "@jest/globals";
import { type Transaction, transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { Decimal, newId } from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { Sighting } from "../domain/payment.ts";
import { hearLink } from "../testing/hear-link.ts";
import { lockPayment } from "../store/payments.ts";
import { openRig } from "../testing/open-rig.ts";
import { readEvents, readPayments } from "../testing/read-rows.ts";
import { sampleLink, sampleSighting } from "../testing/samples.ts";

import { recordNotice } from "./record-notice.ts";
import { recordSighting } from "./record-sighting.ts";

const rig = useRig(openRig);

const recordIn = (tx: Transaction, sighting: Sighting) =>
  recordSighting(tx, sighting, { now: rig.clock.now(), tokenDecimals: 6 });

const record = (sighting: Sighting) =>
  recordNotice(rig.pool, sighting, { now: rig.clock.now(), tokenDecimals: 6 });

const hearIn = (tx: Transaction, link: ReturnType<typeof sampleLink>) =>
  hearLink(rig.clock)(tx, { link });

/** Runs work in a transaction that stays open until it is told to commit. */
const holdOpen = async (work: (tx: Transaction) => Promise<unknown>) => {
  const done = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const ended = transact(rig.pool, async (tx) => {
    await work(tx);
    done.resolve();
    await released.promise;
  });
  await Promise.race([done.promise, ended]);
  return {
    commit: () => {
      released.resolve();
      return ended;
    },
  };
};

const somebodyWaits = () =>
  waitUntil("a transaction waits", async () => (await countLockWaits(rig.pool)) > 0);

/** A repeatable shuffle, so that a round that fails can be run again. */
const shuffled = <Thing>(things: readonly Thing[], seed: number): Thing[] => {
  const order = [...things];
  let state = seed;
  for (let index = order.length - 1; index > 0; index -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = state % (index + 1);
    const [a, b] = [order[index], order[other]];
    if (a === undefined || b === undefined) continue;
    order[index] = b;
    order[other] = a;
  }
  return order;
};

describe("recordSighting", () => {
  test("a link heard of while a payment is being parked for it waits, and then tells of it", async () => {
    const link = sampleLink();
    const parking = await holdOpen((tx) =>
      recordIn(tx, sampleSighting({ paymentLinkId: link.id })),
    );
    const heard = transact(rig.pool, (tx) => hearIn(tx, link));
    await somebodyWaits();
    await parking.commit();
    await heard;
    expect(await readEvents(rig.pool, link.id)).toMatchObject([{ data: { version: 1 } }]);
  });

  test("a payment told while its link is being heard of waits, and then is told at once", async () => {
    const link = sampleLink();
    const hearing = await holdOpen((tx) => hearIn(tx, link));
    const recorded = record(sampleSighting({ paymentLinkId: link.id }));
    await somebodyWaits();
    await hearing.commit();
    expect(await recorded).toMatchObject({ outcome: "first", payment: { version: 1 } });
    expect(await readEvents(rig.pool, link.id)).toHaveLength(1);
  });

  test("a parked payment that is settled while its link is being heard of keeps its versions", async () => {
    const link = sampleLink();
    const begun = sampleSighting({ paymentLinkId: link.id, status: "processing" });
    await record(begun);
    const hearing = await holdOpen((tx) => hearIn(tx, link));
    const recorded = record({ ...begun, status: "settled" });
    await somebodyWaits();
    await hearing.commit();
    await recorded;
    const events = await readEvents(rig.pool, link.id);
    expect(events.map(({ type, data }) => [type, data.version])).toEqual([
      ["settlement.processing", 1],
      ["settlement.settled", 2],
    ]);
  });

  test("notices of two links do not wait for one another, nor two payments of one link", async () => {
    const link = sampleLink();
    await transact(rig.pool, (tx) => hearIn(tx, link));
    const unheardId = newId("plink");
    for (const paymentLinkId of [link.id, unheardId]) {
      const held = await holdOpen((tx) => recordIn(tx, sampleSighting({ paymentLinkId })));
      await record(sampleSighting({ paymentLinkId }));
      await record(sampleSighting());
      await held.commit();
    }
  });

  test("two first notices of one payment at once make one row; the second is a repeat", async () => {
    const sighting = sampleSighting();
    const held = await holdOpen((tx) => recordIn(tx, sighting));
    const second = record({ ...sighting, paymentLinkId: newId("plink") });
    await somebodyWaits();
    await held.commit();
    expect(await second).toMatchObject({ outcome: "repeated", isConflicting: true });
    expect(await readPayments(rig.pool, sighting.sourceId)).toMatchObject([
      { paymentLinkId: sighting.paymentLinkId },
    ]);
  });

  test("a first notice of a known link, one statement, waits for who records the payment in several", async () => {
    const link = sampleLink();
    await transact(rig.pool, (tx) => hearIn(tx, link));
    const sighting = sampleSighting({ paymentLinkId: link.id });
    const held = await holdOpen((tx) => lockPayment(tx, sighting));
    const recorded = record(sighting);
    await somebodyWaits();
    await held.commit();
    expect(await recorded).toMatchObject({ outcome: "first", payment: { version: 1 } });
    expect(await readEvents(rig.pool, link.id)).toHaveLength(1);
  });

  test("a final notice that names another link settles the payment of the first one's", async () => {
    const [first, other] = [sampleLink(), sampleLink()];
    for (const link of [first, other]) await transact(rig.pool, (tx) => hearIn(tx, link));
    const begun = sampleSighting({ paymentLinkId: first.id, status: "processing" });
    await record(begun);
    await record({ ...begun, status: "settled", paymentLinkId: other.id });
    expect(await readEvents(rig.pool, first.id)).toMatchObject([
      { data: { status: "processing" } },
      { data: { status: "settled", paymentLinkId: first.id } },
    ]);
    expect(await readEvents(rig.pool, other.id)).toEqual([]);
  });

  test("a transaction that fails leaves neither the row nor the event (rule KEEP-4)", async () => {
    const link = sampleLink();
    await transact(rig.pool, (tx) => hearIn(tx, link));
    const sighting = sampleSighting({ paymentLinkId: link.id });
    const failing = transact(rig.pool, async (tx) => {
      await recordIn(tx, sighting);
      throw new Error("the process dies here");
    });
    await expect(failing).rejects.toThrow("the process dies here");
    expect(await readPayments(rig.pool, sighting.sourceId)).toEqual([]);
    expect(await readEvents(rig.pool, link.id)).toEqual([]);
  });

  // Guards against the race between a notice and its link: neither side may miss the other, whatever
  // the order in which their statements meet. One transaction hears of several links, as the consumer's.
  test("notices and links that arrive at once lose nothing and double nothing, in 60 rounds", async () => {
    for (let round = 1; round <= 60; round += 1) {
      const links = [1, 2, 3].map(() => sampleLink());
      const begun = links.flatMap((link) =>
        [1, 2, 3].map(() => sampleSighting({ paymentLinkId: link.id, status: "processing" })),
      );
      const settled = begun.map((sighting): Sighting => ({
        ...sighting,
        status: "settled",
        amount: new Decimal(round),
      }));
      const told = [...begun, ...settled, ...settled].map((sighting) => () => record(sighting));
      const heard = [1, 2].map(
        (version) => () =>
          transact(rig.pool, async (tx) => {
            for (const link of links) await hearIn(tx, { ...link, version });
          }),
      );
      const works = shuffled<() => Promise<unknown>>([...told, ...heard], round);
      await Promise.all(works.map((work) => work()));

      for (const link of links) {
        const events = await readEvents(rig.pool, link.id);
        const mine = settled.filter((sighting) => sighting.paymentLinkId === link.id);
        for (const { sourceId } of mine) {
          const ofPayment = events.filter((event) => event.data.sourceId === sourceId);
          expect([round, ...ofPayment.map((event) => event.data.version)]).toEqual([
            round,
            ...(ofPayment.length === 2 ? [1, 2] : [1]),
          ]);
          expect(ofPayment.at(-1)).toMatchObject({
            data: { status: "settled", amount: `${round}` },
          });
          expect(await readPayments(rig.pool, sourceId)).toHaveLength(1);
        }
      }
    }
  });
});
