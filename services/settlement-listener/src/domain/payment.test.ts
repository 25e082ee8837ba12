import { describe, expect, test } from "@jest/globals";
import { Decimal, chainSource, idOfNames } from "@payment-links/contracts";
import { sampleSighting } from "../testing/samples.ts";
import { type Circumstances, type Payment, type Sighting, judgeSighting } from "./payment.ts";

const firstSeenAt = new Date("2026-11-21T10:00:00.000Z");
const known: Circumstances = {
  now: firstSeenAt,
  isLinkKnown: true,
  tokenDecimals: 6,
};
const unknown: Circumstances = { ...known, isLinkKnown: false };
const later: Circumstances = {
  ...known,
  now: new Date("2026-11-21T11:00:00.000Z"),
};

const processing = sampleSighting({
  status: "processing",
  amount: new Decimal("10"),
  sourceTransaction: null,
  occurredAt: new Date("2026-11-21T09:57:00.000Z"),
});
const settled: Sighting = {
  ...processing,
  status: "settled",
  amount: new Decimal("9.5"),
  destinationAddress: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  sourceTransaction: `0x${"cd".repeat(32)}`,
  occurredAt: new Date("2026-11-21T09:58:00.000Z"),
};
const failed: Sighting = { ...settled, status: "failed" };

const id = idOfNames("tx", ["provider:acme", processing.sourceId, processing.paymentLinkId]);

const first = (sighting: Sighting, circumstances = known): Payment => {
  const judgement = judgeSighting(undefined, sighting, circumstances);
  if (judgement.outcome !== "first") throw new Error(`judged as ${judgement.outcome}`);
  return judgement.payment;
};

/**
 * Hands over sightings one after another, as the store would, each with a clock of its own.
 */
const fold = (sightings: readonly Sighting[], circumstances = known) => {
  let payment: Payment | undefined;
  let toldCount = 0;
  let conflictCount = 0;
  for (const [index, sighting] of sightings.entries()) {
    const judgement = judgeSighting(payment, sighting, {
      ...circumstances,
      now: new Date(firstSeenAt.getTime() + index),
    });
    if (judgement.outcome === "too_fine") continue;
    if (judgement.outcome !== "repeated") toldCount += 1;
    if (judgement.isConflicting) conflictCount += 1;
    payment = judgement.payment;
  }
  return { payment, toldCount, conflictCount };
};

/** Every sequence of up to `lengthMax` of the given things, with repeats. */
const sequences = <Thing>(things: readonly Thing[], lengthMax: number): Thing[][] => {
  const all: Thing[][] = [];
  let ofLength: Thing[][] = [[]];
  for (let length = 1; length <= lengthMax; length += 1) {
    ofLength = ofLength.flatMap((begun) => things.map((thing) => [...begun, thing]));
    all.push(...ofLength);
  }
  return all;
};

describe("judgeSighting", () => {
  test("a payment's id follows from its source, its name there and its link, and from nothing else (rule API-24)", () => {
    expect(first(settled).id).toBe(first(processing, later).id);
    for (const change of [{ source: "evm:1" }, { sourceId: "2" }, { paymentLinkId: "plink_2" }]) {
      expect(first({ ...processing, ...change }).id).not.toBe(id);
    }
  });

  test.each(["processing", "settled", "failed"] as const)(
    "a first sighting, also one already %s, is the payment's first version",
    (status) => {
      const sighting = { ...settled, status };
      expect(first(sighting)).toEqual({ ...sighting, id, version: 1, firstSeenAt });
    },
  );

  test.each([settled, failed])(
    "the final sighting tells all of the money (rule NOTICE-4)",
    (final) => {
      const moved = judgeSighting(first(processing), final, later);
      expect(moved).toEqual({
        outcome: "moved",
        isConflicting: false,
        payment: { ...final, id, version: 2, firstSeenAt },
      });
    },
  );

  test("in every order, with every repeat, a payment ends in the same state (rule NOTICE-4)", () => {
    for (const final of [settled, failed]) {
      for (const sightings of sequences([processing, final], 6)) {
        const { payment, toldCount, conflictCount } = fold(sightings);
        const isFinal = sightings.includes(final);
        const beganEarly = sightings[0] === processing;
        expect(payment).toEqual({
          ...(isFinal ? final : processing),
          id,
          firstSeenAt,
          version: isFinal && beganEarly ? 2 : 1,
        });
        expect(toldCount).toBe(payment?.version);
        expect(conflictCount).toBe(0);
      }
    }
  });

  test("while parked, every order ends in the same state and in no version", () => {
    for (const sightings of sequences([processing, settled], 6)) {
      const { payment } = fold(sightings, unknown);
      const end = sightings.includes(settled) ? settled : processing;
      expect(payment).toEqual({ ...end, id, firstSeenAt, version: 0 });
    }
  });

  test("whatever contradicts it, a final state never changes and a link is the first one's (rules STATE-6 and NOTICE-4)", () => {
    const elsewhere = { ...settled, paymentLinkId: "plink_other" };
    const larger = { ...settled, amount: new Decimal("1000") };
    for (const sightings of sequences([processing, settled, failed, larger, elsewhere], 5)) {
      const { payment } = fold(sightings);
      const firstFinal = sightings.find((sighting) => sighting.status !== "processing");
      expect(payment).toMatchObject({
        ...(firstFinal ?? processing),
        paymentLinkId: sightings[0]?.paymentLinkId,
      });
    }
  });

  test("a payment parked as processing and known as settled gets one version for both", () => {
    const parked = first(processing, unknown);
    const moved = judgeSighting(parked, settled, { ...later, isLinkKnown: true });
    expect(moved).toMatchObject({ outcome: "moved", payment: { version: 1, status: "settled" } });
  });

  test.each<[string, Sighting, Sighting, boolean]>([
    ["the same again", settled, { ...settled, amount: new Decimal("9.50") }, false],
    ["a late processing", settled, processing, false],
    [
      "a late processing of another link",
      settled,
      { ...processing, paymentLinkId: "plink_x" },
      true,
    ],
    ["failed after settled", settled, failed, true],
    ["settled after failed", failed, settled, true],
    ["another amount", settled, { ...settled, amount: new Decimal("9.6") }, true],
    ["another destination", settled, { ...settled, destinationAddress: "0x1" }, true],
    ["another payer's transaction", settled, { ...settled, sourceTransaction: null }, true],
    ["another instant", settled, { ...settled, occurredAt: new Date(0) }, true],
    ["another token", settled, { ...settled, tokenAddress: "0x1" }, true],
    ["another chain", settled, { ...settled, chainId: "1" }, true],
    ["another link", settled, { ...settled, paymentLinkId: "plink_x" }, true],
    ["another first amount", processing, { ...processing, amount: new Decimal("11") }, true],
  ])(
    "%s changes nothing, and is told as a conflict only if it is one",
    (_, kept, told, isConflicting) => {
      const payment = first(kept);
      expect(judgeSighting(payment, told, later)).toEqual({
        outcome: "repeated",
        payment,
        isConflicting,
      });
    },
  );

  test.each([
    ["link", { paymentLinkId: "plink_x" }],
    ["token", { tokenAddress: "0x1" }],
    ["chain", { chainId: "1" }],
  ])("a final sighting with another %s moves the payment and is a conflict", (_what, change) => {
    const moved = judgeSighting(first(processing), { ...settled, ...change }, later);
    expect(moved).toMatchObject({
      outcome: "moved",
      isConflicting: true,
      payment: { ...settled, ...change, paymentLinkId: processing.paymentLinkId },
    });
  });

  test("what a chain took away after it had settled keeps its credit, flagged until it is back", () => {
    const flagged = judgeSighting(first(settled), { ...settled, isOrphaned: true }, later);
    expect(flagged).toMatchObject({
      outcome: "moved",
      isConflicting: false,
      payment: { ...settled, version: 2, isOrphaned: true },
    });
    if (flagged.outcome !== "moved") throw new Error("it has moved");
    const again = judgeSighting(flagged.payment, { ...settled, isOrphaned: true }, later);
    expect(again).toMatchObject({ outcome: "repeated" });
    expect(judgeSighting(flagged.payment, settled, later)).toMatchObject({ outcome: "repeated" });
    const back = judgeSighting(flagged.payment, { ...settled, isOrphaned: false }, later);
    expect(back).toMatchObject({ outcome: "moved", payment: { version: 3, isOrphaned: false } });
  });

  test("keeps the id under which it was stored, as those of before were drawn", () => {
    const stored = { ...first(processing), id: "tx_drawn" };
    expect(judgeSighting(stored, settled, later)).toMatchObject({ payment: { id: "tx_drawn" } });
  });

  test("gets no version by such a flag, or by its place, while it is parked", () => {
    const gone = { ...settled, isOrphaned: true };
    const flagged = judgeSighting(first(settled, unknown), gone, unknown);
    expect(flagged).toMatchObject({ outcome: "moved", payment: { version: 0, isOrphaned: true } });
    const waits = { ...processing, blockNumber: null };
    const told = { ...unknown, isPlaceTold: true };
    const placed = judgeSighting(first(waits, told), { ...waits, blockNumber: 7 }, told);
    expect(placed).toMatchObject({ outcome: "moved", payment: { version: 0, blockNumber: 7 } });
  });

  test("only what settled can be flagged", () => {
    for (const kept of [processing, failed]) {
      const told = judgeSighting(first(kept), { ...kept, isOrphaned: true }, later);
      expect(told).toMatchObject({ outcome: "repeated" });
    }
  });

  describe("digits finer than the token's", () => {
    const fine = { ...settled, amount: new Decimal("1.0000001") };
    const exact = { ...settled, amount: new Decimal("1.000001") };

    test("are refused where the link is known, one digit fewer is not", () => {
      expect(judgeSighting(undefined, fine, known)).toEqual({ outcome: "too_fine" });
      expect(judgeSighting(undefined, exact, known)).toMatchObject({ outcome: "first" });
      expect(judgeSighting(first(processing), fine, later)).toEqual({ outcome: "too_fine" });
    });

    test("are kept where the link is not, or where nobody knows the token", () => {
      expect(judgeSighting(undefined, fine, unknown)).toMatchObject({ outcome: "first" });
      const strange = { ...known, tokenDecimals: undefined };
      expect(judgeSighting(undefined, fine, strange)).toMatchObject({ outcome: "first" });
    });

    test("are no reason to refuse the repeat of what was kept before the link was known", () => {
      const parked = first(fine, unknown);
      const repeated = judgeSighting(parked, fine, later);
      expect(repeated).toEqual({ outcome: "repeated", payment: parked, isConflicting: false });
    });
  });

  test("where it stands moves without news, while it is processing and no longer", () => {
    const seen = { ...processing, blockNumber: 10, isOrphaned: false };
    const gone = judgeSighting(
      first(seen),
      { ...seen, blockNumber: null, isOrphaned: true },
      later,
    );
    expect(gone).toMatchObject({
      outcome: "placed",
      payment: { version: 1, status: "processing", blockNumber: null, isOrphaned: false },
    });
    const back = { ...seen, blockNumber: 11 };
    const isBack = judgeSighting(first({ ...seen, blockNumber: null }), back, later);
    expect(isBack).toMatchObject({ outcome: "placed", payment: { version: 1, blockNumber: 11 } });
    expect(judgeSighting(first(seen), seen, later).outcome).toBe("repeated");
    expect(judgeSighting(first(failed), seen, later).outcome).toBe("repeated");
  });

  describe("a payment that a chain's watcher reported as failed", () => {
    const source = chainSource(processing.chainId);
    const lost = first({ ...failed, source, blockNumber: null });
    const shown = { ...processing, source, blockNumber: 12, isOrphaned: false };
    const final = { ...settled, source, blockNumber: 12, isOrphaned: false };

    test("is processed again once a block holds it, and counts once it settles (rule STATE-6)", () => {
      const reopened = judgeSighting(lost, shown, later);
      expect(reopened).toMatchObject({
        outcome: "placed",
        payment: { status: "processing", version: 1, blockNumber: 12 },
      });
      for (const before of [lost, "payment" in reopened ? reopened.payment : lost]) {
        expect(judgeSighting(before, final, later)).toMatchObject({
          outcome: "moved",
          isConflicting: false,
          payment: { status: "settled", version: 2, amount: settled.amount },
        });
      }
    });

    test("stays failed by a sighting in no block, and by a provider's notice (rule NOTICE-4)", () => {
      for (const gone of [{ ...shown, blockNumber: null, isOrphaned: true }]) {
        expect(judgeSighting(lost, gone, later).outcome).toBe("repeated");
      }
      const ofProvider = first(failed);
      expect(judgeSighting(ofProvider, settled, later).outcome).toBe("repeated");
    });
  });

  test("taken away after it settled it is flagged, and no more once it is seen again", () => {
    const seen = { ...processing, blockNumber: 10, isOrphaned: false };
    const paid = first({ ...settled, blockNumber: 10, isOrphaned: false });
    const gone = judgeSighting(paid, { ...seen, blockNumber: null, isOrphaned: true }, later);
    if (gone.outcome !== "moved") throw new Error(`judged as ${gone.outcome}`);
    expect(gone.payment).toMatchObject({ status: "settled", version: 2, isOrphaned: true });
    const back = judgeSighting(gone.payment, { ...seen, blockNumber: 12 }, later);
    expect(back).toMatchObject({
      outcome: "moved",
      payment: { status: "settled", version: 3, isOrphaned: false },
    });
  });
});

describe("where a payment stands while it is processing (rule EVENT-9)", () => {
  const waits = { ...processing, blockNumber: null, isOrphaned: false };
  const placed = { ...processing, blockNumber: 7, isOrphaned: false };
  const gone = { ...processing, blockNumber: null, isOrphaned: true };
  const changes: [string, Sighting, Sighting][] = [
    ["a block holds it", waits, placed],
    ["it moved to another block", placed, { ...placed, blockNumber: 8 }],
    ["its chain took it away", placed, gone],
    ["nobody knows it any more", waits, gone],
    ["it came again", gone, waits],
  ];

  test.each(changes)("is told where that is asked for: %s", (_, before, after) => {
    const told = { ...known, isPlaceTold: true };
    const stored = first(before, told);
    expect(judgeSighting(stored, after, told)).toEqual({
      outcome: "moved",
      isConflicting: false,
      payment: {
        ...stored,
        version: 2,
        blockNumber: after.blockNumber,
        isOrphaned: after.isOrphaned,
      },
    });
    expect(judgeSighting(stored, before, told).outcome).toBe("repeated");
  });

  test.each(changes)("is told to nobody else: %s", (_, before, after) => {
    const { outcome } = judgeSighting(first(before), after, known);
    expect(["placed", "repeated"]).toContain(outcome);
  });

  test("changes nothing once it is final", () => {
    const told = { ...known, isPlaceTold: true };
    for (const final of [settled, failed]) {
      expect(judgeSighting(first(final, told), waits, told).outcome).toBe("repeated");
    }
  });
});
