import { beforeAll, describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { accountSnapshot } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { FollowedLink } from "../domain/followed-link.ts";
import { explainQueries, countTouchedPages, listScans } from "../testing/explain-queries.ts";
import { createRig } from "../testing/create-rig.ts";
import {
  insertLinkCopies,
  insertUnappliedPayments,
  sampleAccount,
  samplePaymentIdentity,
  sampleSettlement,
} from "../testing/samples.ts";
import { findChangedFingerprints } from "./link-fingerprints.ts";
import { findPaymentBySourceIdPrefix } from "./payments.ts";

const linkCount = 20_000;
const followedCount = 1_000;

const rig = useRig(createRig);
let linkIds: readonly string[];
/** A link that has as many payments. */
let paidLinkId: string;
beforeAll(async () => {
  paidLinkId = await rig.createLink(rig.createKeyHeaders(sampleAccount()), { toAmount: "1000" });
  await insertLinkCopies(rig.pool, paidLinkId, { count: linkCount });
  await insertUnappliedPayments(rig.pool, paidLinkId, linkCount);
  await rig.vacuumLinks();
  linkIds = await rig.pool.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM links ORDER BY seq LIMIT ${followedCount}
  `);
});

const createFollowedLinks = (fingerprint: string, payment: FollowedLink["payment"] = null) =>
  linkIds.map((linkId) => ({ key: linkId, linkId, payment, fingerprint }));

describe("of a thousand links that are followed among 20,000,", () => {
  test("those that have changed are found by reading their own index entries and rows only", async () => {
    const plans = await explainQueries(rig.pool, (db) =>
      findChangedFingerprints(db, createFollowedLinks("none"), rig.clock.now()),
    );
    const scanTypes = listScans(plans).map((scan) => [scan["Relation Name"], scan["Node Type"]]);
    expect(scanTypes.filter(([table]) => table !== "accounts").flat()).not.toContain("Seq Scan");
    expect(countTouchedPages(plans)).toBeLessThan(12 * followedCount);
  });

  test("the payment of a follower costs one entry of an index, however many it may be", async () => {
    // Each of that link's payments is named by it and a number.
    const plans = await explainQueries(rig.pool, (db) =>
      findChangedFingerprints(
        db,
        createFollowedLinks("none", { source: paidLinkId, prefix: "" }),
        rig.clock.now(),
      ),
    );
    expect(countTouchedPages(plans)).toBeLessThan(16 * followedCount);
    const lookupPlans = await explainQueries(rig.pool, (db) =>
      findPaymentBySourceIdPrefix(db, { source: paidLinkId, prefix: "" }),
    );
    expect(countTouchedPages(lookupPlans)).toBeLessThan(8);
  });

  test("one has another mark once its expiry has passed, though nothing was written", async () => {
    const body = { toAmount: "1", expirationDate: "2026-12-24T18:00:00Z" };
    const linkId = await rig.createLink(rig.createKeyHeaders(sampleAccount()), body);
    const readFingerprintAt = async (now: string) => {
      const followedLink = { key: linkId, linkId, payment: null, fingerprint: "none" };
      return (await findChangedFingerprints(rig.pool, [followedLink], new Date(now)))[0]
        ?.fingerprint;
    };
    const fingerprintBefore = await readFingerprintAt("2026-12-24T17:59:59.999Z");
    expect(fingerprintBefore).toBe(await readFingerprintAt("2026-11-21T10:00:00Z"));
    expect(await readFingerprintAt("2026-12-24T18:00:00Z")).not.toBe(fingerprintBefore);
  });

  test("one has another mark once its owner was told anew under the version that was lost", async () => {
    const account = sampleAccount();
    const linkId = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
    const readFingerprint = async () => {
      const followedLink = { key: linkId, linkId, payment: null, fingerprint: "none" };
      return (await findChangedFingerprints(rig.pool, [followedLink], rig.clock.now()))[0]
        ?.fingerprint;
    };
    await rig.receiveAccount({ ...account, version: 2, username: "Lost" });
    const fingerprintBefore = await readFingerprint();
    rig.clock.advance(120_000);
    await rig.receiveAccount({ ...account, version: 2, isSuspended: true }, accountSnapshot);
    expect(await readFingerprint()).not.toBe(fingerprintBefore);
  });

  test("one has another mark once its follower's payment ends, also under the version that it had", async () => {
    const linkId = await rig.createLink(rig.createKeyHeaders(sampleAccount()), { toAmount: "1" });
    const transactionHash = `0x${"cd".repeat(32)}`;
    const identity = samplePaymentIdentity({ chainId: "8453", transactionHash, linkId });
    const orphanedState = { status: "processing", isOrphaned: true, version: 5 } as const;
    const settlement = sampleSettlement(linkId, { ...identity, ...orphanedState });
    const payment = { source: identity.source, prefix: `${transactionHash}:${linkId}:` };
    const readFingerprint = async () => {
      const followedLink = { key: linkId, linkId, payment, fingerprint: "none" };
      return (await findChangedFingerprints(rig.pool, [followedLink], rig.clock.now()))[0]
        ?.fingerprint;
    };
    await rig.settle(settlement);
    const fingerprintBefore = await readFingerprint();
    // A listener that was restored counts its versions anew.
    await rig.settle({ ...settlement, version: 2, status: "failed", isOrphaned: false });
    expect(await readFingerprint()).not.toBe(fingerprintBefore);
  });

  test("only those are answered whose mark is another by now", async () => {
    const initialFingerprints = await findChangedFingerprints(
      rig.pool,
      createFollowedLinks("none"),
      rig.clock.now(),
    );
    expect(initialFingerprints).toHaveLength(followedCount);
    const knownLinks = initialFingerprints.map(({ key, fingerprint }) => ({
      key,
      linkId: key,
      payment: null,
      fingerprint,
    }));
    expect(await findChangedFingerprints(rig.pool, knownLinks, rig.clock.now())).toEqual([]);
    const [changedLinkId = ""] = linkIds;
    const pendingSettlement = sampleSettlement(changedLinkId, {
      amount: "1",
      status: "processing",
    });
    await rig.settle(pendingSettlement);
    const [changedLink, ...otherChanges] = await findChangedFingerprints(
      rig.pool,
      knownLinks,
      rig.clock.now(),
    );
    expect([changedLink?.key, otherChanges]).toEqual([changedLinkId, []]);
    await rig.settle({ ...pendingSettlement, version: 2 });
    const [settledLink] = await findChangedFingerprints(rig.pool, knownLinks, rig.clock.now());
    expect(settledLink?.fingerprint).not.toBe(changedLink?.fingerprint);
  });
});
