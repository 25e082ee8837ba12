import { describe, expect, test } from "@jest/globals";
import { type TimelineEntry, newId } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { explainQueries, countTouchedPages } from "../testing/explain-queries.ts";
import { createRig } from "../testing/create-rig.ts";
import {
  insertUnappliedPayments,
  sampleAccount,
  sampleSettlement,
  testStartTime,
} from "../testing/samples.ts";
import { listTimeline } from "../store/link-timeline.ts";

const rig = useRig(createRig);
const path = "/console/api/payment-links";

const createShop = () => {
  const account = sampleAccount();
  const keyHeaders = rig.createKeyHeaders(account);
  const sessionHeaders = rig.createSessionHeaders(account);
  const fetchTimeline = (id: string, query = "") =>
    rig.call(`${path}/${id}/story${query}`, { headers: sessionHeaders });
  const readEntries = async (id: string): Promise<TimelineEntry[]> =>
    (await fetchTimeline(id)).json.data;
  const createLink = (body: object = {}) => rig.createLink(keyHeaders, { toAmount: "10", ...body });
  return { account, fetchTimeline, createLink, key: keyHeaders, readEntries, sessionHeaders };
};

/** Advances the fake clock and returns the new time as an ISO string. */
const advanceClock = (ms = 1000): string => {
  rig.clock.advance(ms);
  return rig.clock.now().toISOString();
};

/** Summarizes each entry as its kind and time, and its payment's id and result. */
const summarize = (entries: readonly TimelineEntry[]) =>
  entries.map(({ at, kind, payment }) => [
    kind,
    at,
    ...(payment === null
      ? []
      : [payment.id, payment.applied || (payment.reason ?? payment.status)]),
  ]);

const createSeenFields = () => ({ firstSeenAt: rig.clock.now(), occurredAt: rig.clock.now() });

describe("GET /console/api/payment-links/:id/story (rule CALLER-26)", () => {
  test("returns everything that happened in order, with each payment's time and id", async () => {
    const { createLink, readEntries } = createShop();
    const t0 = advanceClock();
    const expirationDate = new Date(rig.clock.now().getTime() + 10_000).toISOString();
    const id = await createLink({ expirationDate });
    const t1 = advanceClock();
    const firstSettlement = sampleSettlement(id, {
      ...createSeenFields(),
      amount: "4",
      status: "processing",
    });
    await rig.settle(firstSettlement);
    const t2 = advanceClock();
    const wrongTokenSettlement = sampleSettlement(id, {
      ...createSeenFields(),
      amount: "4",
      chainId: "1",
    });
    await rig.settle(wrongTokenSettlement);
    const t3 = advanceClock();
    const secondSettlement = sampleSettlement(id, {
      ...createSeenFields(),
      amount: "6",
      status: "processing",
    });
    const failingSettlement = sampleSettlement(id, {
      ...createSeenFields(),
      amount: "9",
      status: "processing",
    });
    await rig.settle(secondSettlement);
    const t4 = advanceClock();
    await rig.settle({ ...firstSettlement, version: 2, status: "settled" });
    const t5 = advanceClock(10_000);
    await rig.settle({ ...failingSettlement, version: 2, status: "failed" });
    const t6 = advanceClock();
    await rig.settle({ ...secondSettlement, version: 2, status: "settled" });
    const t7 = advanceClock();
    await rig.settle({ ...firstSettlement, version: 3, status: "settled", isOrphaned: true });
    // Repeating the report with a later version does not change anything.
    advanceClock();
    await rig.settle({ ...firstSettlement, version: 4, status: "settled", isOrphaned: true });
    await rig.settle({ ...failingSettlement, version: 3, status: "failed" });
    const orphanedEntry = (await readEntries(id)).at(-1);
    expect(orphanedEntry?.payment).toMatchObject({ id: firstSettlement.id, orphaned: true });
    // After the payment returns, the orphaned entry is still listed and contains the payment's
    // current state.
    await rig.settle({ ...firstSettlement, version: 5, status: "settled", isOrphaned: false });
    const { orphaned: _, ...returnedPayment } = orphanedEntry?.payment ?? {};
    expect((await readEntries(id)).at(-1)).toEqual({ ...orphanedEntry, payment: returnedPayment });
    const sameSecondEntries = [
      ["payment_seen", t3, secondSettlement.id, true],
      ["payment_seen", t3, failingSettlement.id, "failed"],
    ].toSorted(([, , a = ""], [, , b = ""]) => (a < b ? -1 : 1));
    expect(summarize(await readEntries(id))).toEqual([
      ["created", t0],
      ["payment_seen", t1, firstSettlement.id, true],
      ["payment_seen", t2, wrongTokenSettlement.id, "wrong_token"],
      ["payment_ended", t2, wrongTokenSettlement.id, "wrong_token"],
      ...sameSecondEntries,
      ["payment_ended", t4, firstSettlement.id, true],
      ["expired", expirationDate],
      ["payment_ended", t5, failingSettlement.id, "failed"],
      ["payment_ended", t6, secondSettlement.id, true],
      ["completed", t6, secondSettlement.id, true],
      ["payment_orphaned", t7, firstSettlement.id, true],
    ]);
  });

  test.each(["processing", "settled", "failed"] as const)(
    "retains the orphaned entry of an unsettled payment that is later reported as %s",
    async (status) => {
      const shop = createShop();
      const id = await shop.createLink();
      const firstSettlement = sampleSettlement(id, {
        ...createSeenFields(),
        status: "processing",
        blockNumber: null,
      });
      await rig.settle(firstSettlement);
      const at = advanceClock();
      await rig.settle({ ...firstSettlement, version: 2, isOrphaned: true });
      advanceClock();
      await rig.settle({ ...firstSettlement, version: 3, status, isOrphaned: false });
      const entries = await shop.readEntries(id);
      expect(entries.filter(({ kind }) => kind === "payment_orphaned")).toMatchObject([{ at }]);
      const { json } = await rig.call(`${path}/${id}`, { headers: shop.sessionHeaders });
      expect(json.payments[0].orphaned).toBeUndefined();
    },
  );

  test("includes a deactivation, and whether a key or a person created the link", async () => {
    const { createLink, readEntries, sessionHeaders } = createShop();
    const keyLinkId = await createLink();
    const body = JSON.stringify({ toAmount: "1" });
    const createResponse = await rig.call(path, { method: "POST", headers: sessionHeaders, body });
    const sessionLinkId = createResponse.json.id;
    const occurredAt = advanceClock();
    await rig.call(`${path}/${sessionLinkId}/deactivate`, {
      method: "POST",
      headers: sessionHeaders,
    });
    const entries = await readEntries(sessionLinkId);
    expect(summarize(entries).at(-1)).toEqual(["deactivated", occurredAt]);
    expect(entries[0]?.by).toEqual({ kind: "session", id: expect.stringMatching(/^sess_/) });
    const [created] = await readEntries(keyLinkId);
    expect(created?.by).toEqual({ kind: "api_key", id: expect.stringMatching(/^key_/) });
  });

  test("returns null times for data from before they were recorded", async () => {
    const { createLink, readEntries } = createShop();
    const id = await createLink({ toAmount: "1" });
    const appliedSettlement = sampleSettlement(id, { ...createSeenFields(), amount: "1" });
    await rig.settle(appliedSettlement);
    advanceClock();
    const lateSettlement = sampleSettlement(id, { ...createSeenFields(), amount: "1" });
    await rig.settle(lateSettlement);
    await rig.settle({ ...lateSettlement, version: 2, isOrphaned: true });
    await rig.pool.query(sqlVoid`UPDATE links SET created_by = NULL WHERE id = ${id}`);
    await rig.pool.query(sqlVoid`
      UPDATE payments SET ended_at = NULL, orphaned_at = NULL WHERE link_id = ${id}
    `);
    const appliedSeenAt = appliedSettlement.firstSeenAt.toISOString();
    const lateSeenAt = lateSettlement.firstSeenAt.toISOString();
    const entries = await readEntries(id);
    expect(summarize(entries)).toEqual([
      ["created", appliedSeenAt],
      ["payment_seen", appliedSeenAt, appliedSettlement.id, true],
      ["payment_ended", appliedSeenAt, appliedSettlement.id, true],
      ["completed", appliedSeenAt, appliedSettlement.id, true],
      ["payment_seen", lateSeenAt, lateSettlement.id, "completed"],
      ["payment_ended", null, lateSettlement.id, "completed"],
      ["payment_orphaned", null, lateSettlement.id, "completed"],
    ]);
    expect(entries[0]?.by).toBeNull();
    await rig.settle({ ...lateSettlement, version: 3, isOrphaned: false });
    expect(summarize(await readEntries(id))).toEqual(summarize(entries));
  });

  test("returns every entry exactly once and in order across pages", async () => {
    const { fetchTimeline, createLink } = createShop();
    const id = await createLink({ toAmount: "100000" });
    // Most entries have the same time as others, so pages also end between entries with equal
    // times.
    for (let round = 0; round < 3; round += 1) {
      rig.clock.advance(round === 1 ? 0 : 1000);
      await rig.settle(
        ...Array.from({ length: 30 }, () =>
          sampleSettlement(id, { ...createSeenFields(), amount: "1" }),
        ),
      );
    }
    const readAllPages = async (order: "asc" | "desc"): Promise<TimelineEntry[]> => {
      const pages: TimelineEntry[][] = [];
      for (let after: string | null = ""; after !== null;) {
        const cursor: string = after === "" ? "" : `&after=${after}`;
        const { json } = await fetchTimeline(id, `?order=${order}${cursor}`);
        pages.push(json.data);
        after = json.nextAfter;
      }
      expect(pages.map(({ length }) => length)).toEqual([50, 50, 50, 31]);
      return pages.flat();
    };
    const seenEntries = await readAllPages("asc");
    const entryNames = seenEntries.map(({ kind, payment }) => `${kind} ${payment?.id}`);
    expect(new Set(entryNames).size).toBe(181);
    const times = seenEntries.map(({ at }) => at ?? "");
    expect(times).toEqual(times.toSorted());
    expect(await readAllPages("desc")).toEqual(seenEntries.toReversed());
  });

  test("returns 404 for another account's link or an unknown one, and 422 for an invalid cursor", async () => {
    const { fetchTimeline, createLink } = createShop();
    const { createLink: createOtherLink } = createShop();
    for (const id of [await createOtherLink(), newId("plink"), "plink_x"]) {
      expect((await fetchTimeline(id)).status).toBe(404);
    }
    const ownLinkId = await createLink();
    const invalidCursors = [
      "",
      "1",
      "1.created",
      "x.created.",
      "1.paid.",
      "-1.created.",
      "1.created.tx_1",
    ];
    for (const after of [...invalidCursors, `${"9".repeat(15)}.created.`]) {
      const response = await fetchTimeline(ownLinkId, `?after=${after}`);
      expect([response.status, response.json.errors[0].code]).toEqual([
        422,
        "string_pattern_mismatch",
      ]);
    }
    expect((await fetchTimeline(ownLinkId, `?after=${"9".repeat(14)}.created.`)).json.data).toEqual(
      [],
    );
  });

  // Guards other accounts, because anyone can send many payments to a link.
  test("reads few database pages at any position of 60,000 payments", async () => {
    const { createLink } = createShop();
    const id = await createLink();
    await insertUnappliedPayments(rig.pool, id, 60_000);
    // Without this, the planner could use statistics that autovacuum collected between two inserts.
    await rig.pool.query(sqlVoid`ANALYZE payments`);
    const middle = new Date(testStartTime.getTime() + 30_000);
    for (const kind of [undefined, "payment_seen", "payment_orphaned"] as const) {
      const after = kind && { at: middle, kind, subjectId: "tx_30000" };
      for (const order of ["asc", "desc"] as const) {
        const plans = await explainQueries(rig.pool, (db) =>
          listTimeline(db, { linkId: id, linkPositions: [], after, order, limit: 51 }),
        );
        expect(countTouchedPages(plans)).toBeLessThan(1_000);
      }
    }
  });
});
