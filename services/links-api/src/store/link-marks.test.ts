import { beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { accountSnapshot } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { FollowedLink } from "../domain/followed-link.ts";
import { explain, pagesTouched, scansOf } from "../testing/explain.ts";
import { openRig } from "../testing/open-rig.ts";
import {
  copyLink,
  fillUnapplied,
  sampleAccount,
  sampleChainNames,
  sampleSettlement,
} from "../testing/samples.ts";
import { findNewMarks } from "./link-marks.ts";
import { findNamedPayment } from "./payments.ts";

const linkCount = 20_000;
const followedCount = 1_000;

const rig = useRig(openRig);
let linkIds: readonly string[];
/** A link that has as many payments. */
let paidId: string;
beforeAll(async () => {
  paidId = await rig.createLink(rig.giveKey(sampleAccount()), { toAmount: "1000" });
  await copyLink(rig.pool, paidId, { count: linkCount });
  await fillUnapplied(rig.pool, paidId, linkCount);
  await rig.vacuumLinks();
  linkIds = await rig.pool.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM links ORDER BY seq LIMIT ${followedCount}
  `);
});

const marked = (mark: string, payment: FollowedLink["payment"] = null) =>
  linkIds.map((linkId) => ({ key: linkId, linkId, payment, mark }));

describe("of a thousand links that are followed among 20,000,", () => {
  test("those that have changed are found by reading their own index entries and rows only", async () => {
    const plans = await explain(rig.pool, (db) =>
      findNewMarks(db, marked("none"), rig.clock.now()),
    );
    const types = scansOf(plans).map((scan) => [scan["Relation Name"], scan["Node Type"]]);
    expect(types.filter(([table]) => table !== "accounts").flat()).not.toContain("Seq Scan");
    expect(pagesTouched(plans)).toBeLessThan(12 * followedCount);
  });

  test("the payment of a follower costs one entry of an index, however many it may be", async () => {
    // Each of that link's payments is named by it and a number.
    const plans = await explain(rig.pool, (db) =>
      findNewMarks(db, marked("none", { source: paidId, prefix: "" }), rig.clock.now()),
    );
    expect(pagesTouched(plans)).toBeLessThan(16 * followedCount);
    const named = await explain(rig.pool, (db) =>
      findNamedPayment(db, { source: paidId, prefix: "" }),
    );
    expect(pagesTouched(named)).toBeLessThan(8);
  });

  test("one has another mark once its expiry has passed, though nothing was written", async () => {
    const order = { toAmount: "1", expirationDate: "2026-12-24T18:00:00Z" };
    const linkId = await rig.createLink(rig.giveKey(sampleAccount()), order);
    const markAt = async (now: string) => {
      const one = { key: linkId, linkId, payment: null, mark: "none" };
      return (await findNewMarks(rig.pool, [one], new Date(now)))[0]?.mark;
    };
    const before = await markAt("2026-12-24T17:59:59.999Z");
    expect(before).toBe(await markAt("2026-11-21T10:00:00Z"));
    expect(await markAt("2026-12-24T18:00:00Z")).not.toBe(before);
  });

  test("one has another mark once its owner was told anew under the version that was lost", async () => {
    const account = sampleAccount();
    const linkId = await rig.createLink(rig.giveKey(account), { toAmount: "1" });
    const mark = async () => {
      const one = { key: linkId, linkId, payment: null, mark: "none" };
      return (await findNewMarks(rig.pool, [one], rig.clock.now()))[0]?.mark;
    };
    await rig.hear({ ...account, version: 2, username: "Lost" });
    const before = await mark();
    rig.clock.advance(120_000);
    await rig.hear({ ...account, version: 2, isSuspended: true }, accountSnapshot);
    expect(await mark()).not.toBe(before);
  });

  test("one has another mark once its follower's payment ends, also under the version that it had", async () => {
    const linkId = await rig.createLink(rig.giveKey(sampleAccount()), { toAmount: "1" });
    const transactionHash = `0x${"cd".repeat(32)}`;
    const names = sampleChainNames({ chainId: "8453", transactionHash, linkId });
    const away = { status: "processing", isOrphaned: true, version: 5 } as const;
    const settlement = sampleSettlement(linkId, { ...names, ...away });
    const payment = { source: names.source, prefix: `${transactionHash}:${linkId}:` };
    const mark = async () => {
      const one = { key: linkId, linkId, payment, mark: "none" };
      return (await findNewMarks(rig.pool, [one], rig.clock.now()))[0]?.mark;
    };
    await rig.settle(settlement);
    const before = await mark();
    // A listener that was restored counts its versions anew.
    await rig.settle({ ...settlement, version: 2, status: "failed", isOrphaned: false });
    expect(await mark()).not.toBe(before);
  });

  test("only those are answered whose mark is another by now", async () => {
    const first = await findNewMarks(rig.pool, marked("none"), rig.clock.now());
    expect(first).toHaveLength(followedCount);
    const known = first.map(({ key, mark }) => ({ key, linkId: key, payment: null, mark }));
    expect(await findNewMarks(rig.pool, known, rig.clock.now())).toEqual([]);
    const [paid = ""] = linkIds;
    const seen = sampleSettlement(paid, { amount: "1", status: "processing" });
    await rig.settle(seen);
    const [changed, ...more] = await findNewMarks(rig.pool, known, rig.clock.now());
    expect([changed?.key, more]).toEqual([paid, []]);
    await rig.settle({ ...seen, version: 2 });
    const [settled] = await findNewMarks(rig.pool, known, rig.clock.now());
    expect(settled?.mark).not.toBe(changed?.mark);
  });
});
