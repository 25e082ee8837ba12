import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { nothing, openPool } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createLastUses } from "../domain/last-uses.ts";
import { sessionLifeMs } from "../domain/session.ts";
import { nonceLifeMs } from "../domain/sign-in-attempt.ts";
import { signInLinkLifeMs } from "../domain/sign-in-link.ts";
import { lockCallersAccount } from "../store/sessions.ts";
import { openRig } from "../testing/open-rig.ts";
import { askNonce } from "../testing/siwe.ts";
import { keepUses } from "./keep-uses.ts";
import { sweepEnded, sweepRowsMax } from "./sweep-ended.ts";

const Count = z.object({ count: z.int() });

const rig = useRig(openRig);

const countSessions = () =>
  rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM sessions`);
const countTokens = () =>
  rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM sign_in_tokens`);

describe("sweepEnded", () => {
  test("deletes what is past its end, in bounded batches, and nothing that is alive", async () => {
    const { userId, token } = await rig.makeAccount();
    const ended = sql.timestamp(rig.clock.now());
    await rig.pool.query(nothing`
      INSERT INTO sign_in_tokens (hash, account_id, expires_at)
      SELECT sha256(n::text::bytea), ${userId}, ${ended}
      FROM generate_series(1, ${sweepRowsMax + 1}::int) AS n
    `);
    expect(await sweepEnded(rig.ground)).toBe(true);
    expect(await countTokens()).toBe(2);
    expect(await sweepEnded(rig.ground)).toBe(false);
    expect(await countTokens()).toBe(1);
    await rig.signIn(token);
    rig.clock.advance(sessionLifeMs - 1);
    await sweepEnded(rig.ground);
    expect(await countSessions()).toBe(1);
    rig.clock.advance(1);
    await sweepEnded(rig.ground);
    expect(await countSessions()).toBe(0);
  });

  test("waits for no change under way, whose session goes the next time", async () => {
    const { userId, cookie } = await rig.signUp();
    const told = await rig.introspect("session", cookie.slice("session=".length));
    const { id } = told["credential"] as { id: string };
    rig.clock.advance(sessionLifeMs);
    const locked = Promise.withResolvers<void>();
    const swept = Promise.withResolvers<void>();
    const changing = rig.pool.transaction(async (tx) => {
      await lockCallersAccount(tx, { account: { id: userId }, credential: { id } });
      locked.resolve();
      await swept.promise;
    });
    await locked.promise;
    await sweepEnded(rig.ground).finally(swept.resolve);
    expect(await countSessions()).toBe(1);
    await changing;
    await sweepEnded(rig.ground);
    expect(await countSessions()).toBe(0);
  });
});

describe("sweepEnded of sign-ins that were begun", () => {
  test("deletes each at its end, and none before", async () => {
    const countAttempts = () =>
      rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM sign_in_attempts`);
    await askNonce(rig);
    rig.clock.advance(nonceLifeMs - 1);
    await sweepEnded(rig.ground);
    expect(await countAttempts()).toBe(1);
    rig.clock.advance(1);
    await sweepEnded(rig.ground);
    expect(await countAttempts()).toBe(0);
  });
});

describe("keepUses", () => {
  test("what could not be written stays noted for the next time", async () => {
    const pool = await openPool({
      url: rig.ground.databaseUrl,
      applicationName: "ended",
      connectionsMax: 1,
      log: rig.ground.log,
    });
    await pool.end();
    const deps = { pool, apiKeyUses: createLastUses(), sessionUses: createLastUses() };
    const noted = { id: "key_1", at: rig.clock.now(), address: "203.0.113.9" };
    deps.apiKeyUses.note(noted);
    await expect(keepUses(deps)).rejects.toThrow();
    expect(deps.apiKeyUses.take()).toEqual([noted]);
  });
});

describe("a started service", () => {
  test("does both by itself as time goes on", async () => {
    const own = await openRig();
    try {
      await own.service.start();
      const { cookie } = await own.signUp();
      await own.makeAccount();
      const body = { name: "n", scopes: ["payment_link:read"] };
      const created = await own.call("POST", "/console/api/api-keys", { cookie, body });
      await own.introspect("api-key", String(created.body["key"]));
      const lastUsed = async () => {
        const { body } = await own.call("GET", "/console/api/api-keys", { cookie });
        return (body["data"] as { lastUsedAt: unknown }[])[0]?.lastUsedAt;
      };
      const usedAt = own.clock.now().toISOString();
      await waitUntil("the job has run", async () => {
        own.clock.advance(1_000);
        return (await lastUsed()) === usedAt;
      });
      own.clock.advance(signInLinkLifeMs);
      await waitUntil("the job has run", async () => {
        own.clock.advance(1_000);
        const left = sql.type(Count)`SELECT count(*)::int AS count FROM sign_in_tokens`;
        return (await own.pool.oneFirst(left)) === 0;
      });
    } finally {
      await own.close();
    }
  });
});
