import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { newId } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig, refusalOf } from "../testing/open-rig.ts";
import { makeWallet, prepareSiwe, signInByWallet } from "../testing/siwe.ts";

const rig = useRig(openRig);

const order = (act: "verify" | "unverify", body: object) =>
  rig.call("POST", `/internal/accounts/${act}`, { body });

/** Opens an account by signing in with a wallet, as a stranger does where sign-up is open. */
const signUpByWallet = async (): Promise<string> =>
  (await signInByWallet(rig, makeWallet())).userId;

const readVerified = async (userId: string): Promise<unknown> =>
  (await rig.readEvents(userId)).at(-1)?.data.isVerified;

describe("a verified account (rule CALLER-38)", () => {
  test("is one that an operator created, not one that signed up by itself", async () => {
    const { userId } = await rig.makeAccount({ handle: "made_by_operator" });
    expect(await readVerified(userId)).toBe(true);
    expect(await readVerified(await signUpByWallet())).toBe(false);
  });

  test("is verified and unverified by an operator alone, and its record and audit log say so", async () => {
    const userId = await signUpByWallet();
    const verified = await order("verify", { userId, reason: "a phone call" });
    expect(verified.body).toEqual({ userId, handle: null, isVerified: true });
    expect(await readVerified(userId)).toBe(true);
    expect((await order("unverify", { userId })).body).toMatchObject({ isVerified: false });
    const [created, ...changes] = await rig.readEvents(userId);
    expect([created, ...changes].map((event) => event?.data.version)).toEqual([1, 2, 3]);
    expect(changes.map(({ data }) => data.isVerified)).toEqual([true, false]);
    expect((await rig.readAudit(userId)).slice(-2)).toEqual([
      "account.verified",
      "account.unverified",
    ]);
  });

  test("does not change if it is verified twice", async () => {
    const { userId } = await rig.makeAccount();
    const events = await rig.readEvents(userId);
    expect((await order("verify", { userId })).status).toBe(200);
    expect(await rig.readEvents(userId)).toEqual(events);
    expect(await rig.readAudit(userId)).not.toContain("account.verified");
  });

  test.each(["verify", "unverify"] as const)(
    "has to exist when an operator names it to %s it",
    async (act) => {
      expect(refusalOf(await order(act, {}))).toBe("422 missing");
      expect(refusalOf(await order(act, { handle: "nobody_here" }))).toBe("404 NOT_FOUND");
      expect(refusalOf(await order(act, { userId: "user_none" }))).toBe("404 NOT_FOUND");
    },
  );
});

const upgradeText = readFileSync(
  new URL("../../migrations/0018-verify-existing-accounts.sql", import.meta.url),
  "utf8",
);
const upgrade = Object.assign([upgradeText], { raw: Object.freeze([upgradeText]) });
const VerifiedRow = z.object({ id: z.string(), isVerified: z.boolean() });

/** Puts accounts back to how an upgrade finds them, upgrades them, and returns which are verified. */
const upgradeAccounts = (userIds: readonly string[]) =>
  rig.pool.transaction(async (tx) => {
    const ids = sql.array([...userIds], "text");
    await tx.query(nothing`UPDATE accounts SET verified_at = NULL`);
    await tx.query(nothing`${sql.fragment(upgrade)}`);
    const rows = await tx.any(sql.type(VerifiedRow)`
      SELECT id, verified_at IS NOT NULL AS "isVerified" FROM accounts WHERE id = ANY (${ids})
    `);
    const found = new Map(rows.map(({ id, isVerified }) => [id, isVerified]));
    return userIds.map((id) => found.get(id));
  });

describe("an upgrade from a release without verified accounts", () => {
  test("verifies an account that an operator created, and none that is known to have signed up by itself", async () => {
    const { userId } = await rig.makeAccount();
    expect(await upgradeAccounts([userId, await signUpByWallet()])).toEqual([true, false]);
  });

  test("verifies an account that linked a wallet only after an operator had created it", async () => {
    const { userId, cookie } = await rig.signUp();
    rig.clock.advance(1_000);
    const { browser, siwe } = await prepareSiwe(rig, makeWallet(), cookie);
    const linked = await rig.call("POST", "/console/api/identities", {
      cookie: `${cookie}; ${browser}`,
      body: { siwe },
    });
    expect(linked.status).toBe(201);
    expect(await upgradeAccounts([userId])).toEqual([true]);
  });

  test("judges an account whose audit log has expired by the identity that it was opened with", async () => {
    const [signedUp, unknown] = [newId("user"), newId("user")];
    const openedAt = rig.clock.now().toISOString();
    for (const id of [signedUp, unknown]) {
      await rig.pool.query(nothing`
        INSERT INTO accounts (id, version, username, date_created)
        VALUES (${id}, 1, 'Old', ${openedAt}::timestamptz)
      `);
    }
    await rig.pool.query(nothing`
      INSERT INTO identities (id, account_id, method, issuer, subject, date_created)
      VALUES (${newId("idn")}, ${signedUp}, 'siwe', 'eip155', ${signedUp}, ${openedAt}::timestamptz)
    `);
    expect(await upgradeAccounts([signedUp, unknown])).toEqual([false, true]);
  });
});
