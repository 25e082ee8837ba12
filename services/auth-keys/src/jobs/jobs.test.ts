import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { sqlVoid, connectPool } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createLastUses } from "../domain/last-uses.ts";
import { sessionLifetimeMs } from "../domain/session.ts";
import { nonceLifetimeMs } from "../domain/sign-in-attempt.ts";
import { signInLinkLifetimeMs } from "../domain/sign-in-link.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { createRig } from "../testing/create-rig.ts";
import { fetchNonce } from "../testing/siwe.ts";
import { flushLastUses } from "./flush-last-uses.ts";
import { deleteExpiredRows, deleteBatchMax } from "./delete-expired-rows.ts";

const Count = z.object({ count: z.int() });

const rig = useRig(createRig);

const countSessions = () =>
  rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM sessions`);
const countTokens = () =>
  rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM sign_in_tokens`);

describe("deleteExpiredRows", () => {
  test("deletes expired rows in bounded batches, and no other rows", async () => {
    const { userId, token } = await rig.createAccount();
    const endedAt = sql.timestamp(rig.clock.now());
    await rig.pool.query(sqlVoid`
      INSERT INTO sign_in_tokens (hash, account_id, expires_at)
      SELECT sha256(n::text::bytea), ${userId}, ${endedAt}
      FROM generate_series(1, ${deleteBatchMax + 1}::int) AS n
    `);
    expect(await deleteExpiredRows(rig.context).run()).toBe(true);
    expect(await countTokens()).toBe(2);
    expect(await deleteExpiredRows(rig.context).run()).toBe(false);
    expect(await countTokens()).toBe(1);
    await rig.signIn(token);
    rig.clock.advance(sessionLifetimeMs - 1);
    await deleteExpiredRows(rig.context).run();
    expect(await countSessions()).toBe(1);
    rig.clock.advance(1);
    await deleteExpiredRows(rig.context).run();
    expect(await countSessions()).toBe(0);
  });

  test("skips a session with a pending change, and deletes it at the next run", async () => {
    const { userId, cookie } = await rig.signUp();
    const introspection = await rig.introspect("session", cookie.slice("session=".length));
    const { id } = introspection["credential"] as { id: string };
    rig.clock.advance(sessionLifetimeMs);
    const rowLocked = Promise.withResolvers<void>();
    const sweepDone = Promise.withResolvers<void>();
    const pendingChange = rig.pool.transaction(async (tx) => {
      await lockCallerAccount(tx, { account: { id: userId }, credential: { id } });
      rowLocked.resolve();
      await sweepDone.promise;
    });
    await rowLocked.promise;
    await deleteExpiredRows(rig.context).run().finally(sweepDone.resolve);
    expect(await countSessions()).toBe(1);
    await pendingChange;
    await deleteExpiredRows(rig.context).run();
    expect(await countSessions()).toBe(0);
  });
});

describe("deleteExpiredRows for sign-in attempts", () => {
  test("deletes each attempt at its expiry, and not earlier", async () => {
    const countAttempts = () =>
      rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM sign_in_attempts`);
    await fetchNonce(rig);
    rig.clock.advance(nonceLifetimeMs - 1);
    await deleteExpiredRows(rig.context).run();
    expect(await countAttempts()).toBe(1);
    rig.clock.advance(1);
    await deleteExpiredRows(rig.context).run();
    expect(await countAttempts()).toBe(0);
  });
});

describe("flushLastUses", () => {
  test("keeps uses that could not be written for the next attempt", async () => {
    const pool = await connectPool({
      url: rig.context.databaseUrl,
      applicationName: "ended",
      connectionsMax: 1,
      log: rig.context.log,
    });
    await pool.end();
    const dependencies = { pool, apiKeyUses: createLastUses(), sessionUses: createLastUses() };
    const use = { id: "key_1", at: rig.clock.now(), address: "203.0.113.9" };
    dependencies.apiKeyUses.record(use);
    await expect(flushLastUses(dependencies).run()).rejects.toThrow();
    expect(dependencies.apiKeyUses.drain()).toEqual([use]);
  });
});

describe("a started service", () => {
  test("runs both jobs periodically", async () => {
    const ownRig = await createRig();
    try {
      await ownRig.service.start();
      const { cookie } = await ownRig.signUp();
      await ownRig.createAccount();
      const body = { name: "n", scopes: ["payment_link:read"] };
      const createdKey = await ownRig.call("POST", "/console/api/api-keys", { cookie, body });
      await ownRig.introspect("api-key", String(createdKey.body["key"]));
      const getLastUsed = async () => {
        const { body } = await ownRig.call("GET", "/console/api/api-keys", { cookie });
        return (body["data"] as { lastUsedAt: unknown }[])[0]?.lastUsedAt;
      };
      const usedAt = ownRig.clock.now().toISOString();
      await waitUntil("the job has run", async () => {
        ownRig.clock.advance(1_000);
        return (await getLastUsed()) === usedAt;
      });
      ownRig.clock.advance(signInLinkLifetimeMs);
      await waitUntil("the job has run", async () => {
        ownRig.clock.advance(1_000);
        const remainingTokens = sql.type(Count)`SELECT count(*)::int AS count FROM sign_in_tokens`;
        return (await ownRig.pool.oneFirst(remainingTokens)) === 0;
      });
    } finally {
      await ownRig.close();
    }
  });
});
