import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { newId } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";
import { createWallet, prepareSiwe, signInWithWallet } from "../testing/siwe.ts";

const rig = useRig(createRig);

const requestAccountAction = (action: "verify" | "unverify", body: object) =>
  rig.call("POST", `/internal/accounts/${action}`, { body });

/** Creates an account by signing in with a wallet, as anyone can while sign-up is open. */
const signUpWithWallet = async (): Promise<string> =>
  (await signInWithWallet(rig, createWallet())).userId;

const readVerified = async (userId: string): Promise<unknown> =>
  (await rig.readEvents(userId)).at(-1)?.data.isVerified;

describe("a verified account (rule CALLER-38)", () => {
  test("is an account that an operator created, not one from a sign-up", async () => {
    const { userId } = await rig.createAccount({ handle: "made_by_operator" });
    expect(await readVerified(userId)).toBe(true);
    expect(await readVerified(await signUpWithWallet())).toBe(false);
  });

  test("is verified and unverified only by an operator, and its record and audit log show it", async () => {
    const userId = await signUpWithWallet();
    const verifyResponse = await requestAccountAction("verify", { userId, reason: "a phone call" });
    expect(verifyResponse.body).toEqual({ userId, handle: null, isVerified: true });
    expect(await readVerified(userId)).toBe(true);
    expect((await requestAccountAction("unverify", { userId })).body).toMatchObject({
      isVerified: false,
    });
    const [createdEvent, ...changeEvents] = await rig.readEvents(userId);
    expect([createdEvent, ...changeEvents].map((event) => event?.data.version)).toEqual([1, 2, 3]);
    expect(changeEvents.map(({ data }) => data.isVerified)).toEqual([true, false]);
    expect((await rig.readAudit(userId)).slice(-2)).toEqual([
      "account.verified",
      "account.unverified",
    ]);
  });

  test("does not change if it is verified again", async () => {
    const { userId } = await rig.createAccount();
    const events = await rig.readEvents(userId);
    expect((await requestAccountAction("verify", { userId })).status).toBe(200);
    expect(await rig.readEvents(userId)).toEqual(events);
    expect(await rig.readAudit(userId)).not.toContain("account.verified");
  });

  test.each(["verify", "unverify"] as const)(
    "must exist for an operator to %s it",
    async (action) => {
      expect(summarizeResponse(await requestAccountAction(action, {}))).toBe("422 missing");
      expect(summarizeResponse(await requestAccountAction(action, { handle: "nobody_here" }))).toBe(
        "404 NOT_FOUND",
      );
      expect(summarizeResponse(await requestAccountAction(action, { userId: "user_none" }))).toBe(
        "404 NOT_FOUND",
      );
    },
  );
});

const migrationText = readFileSync(
  new URL("../../migrations/0018-verify-existing-accounts.sql", import.meta.url),
  "utf8",
);
const migration = Object.assign([migrationText], { raw: Object.freeze([migrationText]) });
const VerifiedRow = z.object({ id: z.string(), isVerified: z.boolean() });

/**
 * Resets the accounts to their state before the upgrade, then upgrades them. Returns which ones are
 * verified.
 */
const upgradeAccounts = (userIds: readonly string[]) =>
  rig.pool.transaction(async (tx) => {
    const ids = sql.array([...userIds], "text");
    await tx.query(sqlVoid`UPDATE accounts SET verified_at = NULL`);
    await tx.query(sqlVoid`${sql.fragment(migration)}`);
    const rows = await tx.any(sql.type(VerifiedRow)`
      SELECT id, verified_at IS NOT NULL AS "isVerified" FROM accounts WHERE id = ANY (${ids})
    `);
    const isVerifiedById = new Map(rows.map(({ id, isVerified }) => [id, isVerified]));
    return userIds.map((id) => isVerifiedById.get(id));
  });

describe("an upgrade from a release without verified accounts", () => {
  test("verifies an account that an operator created, but not one that is known to come from a sign-up", async () => {
    const { userId } = await rig.createAccount();
    expect(await upgradeAccounts([userId, await signUpWithWallet()])).toEqual([true, false]);
  });

  test("verifies an operator-created account that linked a wallet later", async () => {
    const { userId, cookie } = await rig.signUp();
    rig.clock.advance(1_000);
    const { browserCookie, siwe } = await prepareSiwe(rig, createWallet(), cookie);
    const linkResponse = await rig.call("POST", "/console/api/identities", {
      cookie: `${cookie}; ${browserCookie}`,
      body: { siwe },
    });
    expect(linkResponse.status).toBe(201);
    expect(await upgradeAccounts([userId])).toEqual([true]);
  });

  test("decides by the account's first identity if its audit log has expired", async () => {
    const [signedUpUserId, unknownUserId] = [newId("user"), newId("user")];
    const createdAt = rig.clock.now().toISOString();
    for (const id of [signedUpUserId, unknownUserId]) {
      await rig.pool.query(sqlVoid`
        INSERT INTO accounts (id, version, username, date_created)
        VALUES (${id}, 1, 'Old', ${createdAt}::timestamptz)
      `);
    }
    await rig.pool.query(sqlVoid`
      INSERT INTO identities (id, account_id, method, issuer, subject, date_created)
      VALUES (${newId("idn")}, ${signedUpUserId}, 'siwe', 'eip155', ${signedUpUserId}, ${createdAt}::timestamptz)
    `);
    expect(await upgradeAccounts([signedUpUserId, unknownUserId])).toEqual([false, true]);
  });
});
