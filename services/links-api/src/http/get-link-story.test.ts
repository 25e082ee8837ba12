import { describe, expect, test } from "@jest/globals";
import { type StoryEntry, newId } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { explain, pagesTouched } from "../testing/explain.ts";
import { openRig } from "../testing/open-rig.ts";
import { fillUnapplied, sampleAccount, sampleSettlement, start } from "../testing/samples.ts";
import { listStory } from "../store/link-story.ts";

const rig = useRig(openRig);
const path = "/console/api/payment-links";

const openShop = () => {
  const account = sampleAccount();
  const key = rig.giveKey(account);
  const session = rig.giveSession(account);
  const ask = (id: string, query = "") =>
    rig.call(`${path}/${id}/story${query}`, { headers: session });
  const read = async (id: string): Promise<StoryEntry[]> => (await ask(id)).json.data;
  const create = (order: object = {}) => rig.createLink(key, { toAmount: "10", ...order });
  return { account, ask, create, key, read, session };
};

/** Waits a second of the held clock, and answers the time as it is shown. */
const later = (ms = 1000): string => {
  rig.clock.advance(ms);
  return rig.clock.now().toISOString();
};

/** What is told, with the payment's id and what became of it. */
const inShort = (story: readonly StoryEntry[]) =>
  story.map(({ at, kind, payment }) => [
    kind,
    at,
    ...(payment === null
      ? []
      : [payment.id, payment.applied || (payment.reason ?? payment.status)]),
  ]);

const seenNow = () => ({ firstSeenAt: rig.clock.now(), occurredAt: rig.clock.now() });

describe("GET /console/api/payment-links/:id/story (rule CALLER-26)", () => {
  test("tells all that happened in order, with each payment's time and id", async () => {
    const { create, read } = openShop();
    const t0 = later();
    const expirationDate = new Date(rig.clock.now().getTime() + 10_000).toISOString();
    const id = await create({ expirationDate });
    const t1 = later();
    const first = sampleSettlement(id, { ...seenNow(), amount: "4", status: "processing" });
    await rig.settle(first);
    const t2 = later();
    const wrong = sampleSettlement(id, { ...seenNow(), amount: "4", chainId: "1" });
    await rig.settle(wrong);
    const t3 = later();
    const second = sampleSettlement(id, { ...seenNow(), amount: "6", status: "processing" });
    const failing = sampleSettlement(id, { ...seenNow(), amount: "9", status: "processing" });
    await rig.settle(second);
    const t4 = later();
    await rig.settle({ ...first, version: 2, status: "settled" });
    const t5 = later(10_000);
    await rig.settle({ ...failing, version: 2, status: "failed" });
    const t6 = later();
    await rig.settle({ ...second, version: 2, status: "settled" });
    const t7 = later();
    await rig.settle({ ...first, version: 3, status: "settled", isOrphaned: true });
    // Told once more, it changes nothing.
    later();
    await rig.settle({ ...first, version: 4, status: "settled", isOrphaned: true });
    await rig.settle({ ...failing, version: 3, status: "failed" });
    const flagged = (await read(id)).at(-1);
    expect(flagged?.payment).toMatchObject({ id: first.id, orphaned: true });
    // Its chain has it again: what happened stays told, of the payment as it is now.
    await rig.settle({ ...first, version: 5, status: "settled", isOrphaned: false });
    const { orphaned: _, ...returned } = flagged?.payment ?? {};
    expect((await read(id)).at(-1)).toEqual({ ...flagged, payment: returned });
    const sameSecond = [
      ["payment_seen", t3, second.id, true],
      ["payment_seen", t3, failing.id, "failed"],
    ].toSorted(([, , a = ""], [, , b = ""]) => (a < b ? -1 : 1));
    expect(inShort(await read(id))).toEqual([
      ["created", t0],
      ["payment_seen", t1, first.id, true],
      ["payment_seen", t2, wrong.id, "wrong_token"],
      ["payment_ended", t2, wrong.id, "wrong_token"],
      ...sameSecond,
      ["payment_ended", t4, first.id, true],
      ["expired", expirationDate],
      ["payment_ended", t5, failing.id, "failed"],
      ["payment_ended", t6, second.id, true],
      ["completed", t6, second.id, true],
      ["payment_orphaned", t7, first.id, true],
    ]);
  });

  test.each(["processing", "settled", "failed"] as const)(
    "keeps that a payment was taken back before it settled, once it is told again as %s",
    async (status) => {
      const shop = openShop();
      const id = await shop.create();
      const first = sampleSettlement(id, { ...seenNow(), status: "processing", blockNumber: null });
      await rig.settle(first);
      const at = later();
      await rig.settle({ ...first, version: 2, isOrphaned: true });
      later();
      await rig.settle({ ...first, version: 3, status, isOrphaned: false });
      const story = await shop.read(id);
      expect(story.filter(({ kind }) => kind === "payment_orphaned")).toMatchObject([{ at }]);
      const { json } = await rig.call(`${path}/${id}`, { headers: shop.session });
      expect(json.payments[0].orphaned).toBeUndefined();
    },
  );

  test("tells of a deactivation, and who made the link: a key or a person", async () => {
    const { create, read, session } = openShop();
    const byKey = await create();
    const body = JSON.stringify({ toAmount: "1" });
    const made = await rig.call(path, { method: "POST", headers: session, body });
    const byPerson = made.json.id;
    const at = later();
    await rig.call(`${path}/${byPerson}/deactivate`, { method: "POST", headers: session });
    const story = await read(byPerson);
    expect(inShort(story).at(-1)).toEqual(["deactivated", at]);
    expect(story[0]?.by).toEqual({ kind: "session", id: expect.stringMatching(/^sess_/) });
    const [created] = await read(byKey);
    expect(created?.by).toEqual({ kind: "api_key", id: expect.stringMatching(/^key_/) });
  });

  test("of what was there before such things were written down it tells what is known, and no time for the rest", async () => {
    const { create, read } = openShop();
    const id = await create({ toAmount: "1" });
    const applied = sampleSettlement(id, { ...seenNow(), amount: "1" });
    await rig.settle(applied);
    later();
    const late = sampleSettlement(id, { ...seenNow(), amount: "1" });
    await rig.settle(late);
    await rig.settle({ ...late, version: 2, isOrphaned: true });
    await rig.pool.query(nothing`UPDATE links SET created_by = NULL WHERE id = ${id}`);
    await rig.pool.query(nothing`
      UPDATE payments SET ended_at = NULL, orphaned_at = NULL WHERE link_id = ${id}
    `);
    const seenAt = applied.firstSeenAt.toISOString();
    const lateAt = late.firstSeenAt.toISOString();
    const story = await read(id);
    expect(inShort(story)).toEqual([
      ["created", seenAt],
      ["payment_seen", seenAt, applied.id, true],
      ["payment_ended", seenAt, applied.id, true],
      ["completed", seenAt, applied.id, true],
      ["payment_seen", lateAt, late.id, "completed"],
      ["payment_ended", null, late.id, "completed"],
      ["payment_orphaned", null, late.id, "completed"],
    ]);
    expect(story[0]?.by).toBeNull();
    await rig.settle({ ...late, version: 3, isOrphaned: false });
    expect(inShort(await read(id))).toEqual(inShort(story));
  });

  test("in pages has everything once, in the order in which it is told at once", async () => {
    const { ask, create } = openShop();
    const id = await create({ toAmount: "100000" });
    // Many of one instant, and some of another.
    for (let round = 0; round < 3; round += 1) {
      rig.clock.advance(round === 1 ? 0 : 1000);
      await rig.settle(
        ...Array.from({ length: 30 }, () => sampleSettlement(id, { ...seenNow(), amount: "1" })),
      );
    }
    const seen: StoryEntry[] = [];
    const sizes: number[] = [];
    for (let after: string | null = ""; after !== null;) {
      const { json } = await ask(id, after === "" ? "" : `?after=${after}`);
      seen.push(...json.data);
      sizes.push(json.data.length);
      after = json.nextAfter;
    }
    expect(sizes).toEqual([50, 50, 50, 31]);
    const names = seen.map(({ kind, payment }) => `${kind} ${payment?.id}`);
    expect(new Set(names).size).toBe(181);
    const times = seen.map(({ at }) => at ?? "");
    expect(times).toEqual(times.toSorted());
  });

  test("another's link, or none, is 404; what is no place is 422", async () => {
    const { ask, create } = openShop();
    const { create: createAnother } = openShop();
    for (const id of [await createAnother(), newId("plink"), "plink_x"]) {
      expect((await ask(id)).status).toBe(404);
    }
    const own = await create();
    const places = ["", "1", "1.created", "x.created.", "1.paid.", "-1.created.", "1.created.tx_1"];
    for (const after of [...places, `${"9".repeat(15)}.created.`]) {
      const answer = await ask(own, `?after=${after}`);
      expect([answer.status, answer.json.errors[0].code]).toEqual([422, "string_pattern_mismatch"]);
    }
    expect((await ask(own, `?after=${"9".repeat(14)}.created.`)).json.data).toEqual([]);
  });

  // Guards everybody else: anyone may send many payments to a link.
  test("of 60,000 payments touches few pages, wherever it is read", async () => {
    const { create } = openShop();
    const id = await create();
    await fillUnapplied(rig.pool, id, 60_000);
    // Or the planner may go by the few of which autovacuum learned between two parts.
    await rig.pool.query(nothing`ANALYZE payments`);
    const middle = new Date(start.getTime() + 30_000);
    for (const kind of [undefined, "payment_seen", "payment_orphaned"] as const) {
      const after = kind && { at: middle, kind, paymentId: "tx_30000" };
      const plans = await explain(rig.pool, (db) =>
        listStory(db, { linkId: id, own: [], after, limit: 51 }),
      );
      expect(pagesTouched(plans)).toBeLessThan(1_000);
    }
  });
});
