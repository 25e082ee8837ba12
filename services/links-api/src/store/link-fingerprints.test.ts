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
/** A link with `linkCount` payments. */
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

describe("with a thousand followed links among 20,000", () => {
  test("findChangedFingerprints reads only the index entries and rows of the followed links", async () => {
    const plans = await explainQueries(rig.pool, (db) =>
      findChangedFingerprints(db, createFollowedLinks("none"), rig.clock.now()),
    );
    const scanTypes = listScans(plans).map((scan) => [scan["Relation Name"], scan["Node Type"]]);
    expect(scanTypes.filter(([table]) => table !== "accounts").flat()).not.toContain("Seq Scan");
    expect(countTouchedPages(plans)).toBeLessThan(12 * followedCount);
  });

  test("a followed payment costs one index entry, however many payments the link has", async () => {
    // `insertUnappliedPayments` uses the link's id as the `source` and a number as the `sourceId`.
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

  test("a fingerprint changes when the expiry passes, without a write", async () => {
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

  test("a fingerprint changes when a snapshot replaces the owner's state under the same version", async () => {
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

  test("a fingerprint changes when the followed payment ends, even under a lower version", async () => {
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
    // A restored listener restarts its versions.
    await rig.settle({ ...settlement, version: 2, status: "failed", isOrphaned: false });
    expect(await readFingerprint()).not.toBe(fingerprintBefore);
  });

  test("findChangedFingerprints returns only links whose fingerprint has changed", async () => {
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
