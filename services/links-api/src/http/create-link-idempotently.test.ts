import { beforeAll, describe, expect, test } from "@jest/globals";
import { type Account } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { deleteIdempotencyKeys } from "../jobs/delete-idempotency-keys.ts";
import { tryLockKey } from "../store/idempotency-keys.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

const rig = useRig(createRig);
let account: Account;
let headers: Record<string, string>;
beforeAll(async () => {
  account = sampleAccount();
  headers = rig.createKeyHeaders(account);
});

const createLink = (
  idempotencyKey: string,
  body: string,
  keyHeaders: Record<string, string> = headers,
) =>
  rig.call("/v1/payment-link", {
    method: "POST",
    headers: { ...keyHeaders, "idempotency-key": idempotencyKey },
    body,
  });

const countLinks = async (keyHeaders: Record<string, string>) =>
  (await rig.call("/v1/payment-link", { headers: keyHeaders })).json.data.length;

const dayMs = 24 * 60 * 60 * 1000;

const Terminated = z.object({ isTerminated: z.boolean() });

describe("Idempotency-Key (rule API-19)", () => {
  test("given the same key and body, returns the first response and creates one link and one event", async () => {
    const owner = sampleAccount();
    const keyHeaders = rig.createKeyHeaders(owner);
    const firstResponse = await createLink("order-1", '{"toAmount":"5"}', keyHeaders);
    // Idempotency keys belong to the owner, so a retry can use another of the owner's API keys or
    // the console.
    const sessionHeaders = rig.createSessionHeaders({ ...owner, version: 2, handle: "moved_on" });
    const secondResponse = await createLink(
      "order-1",
      '{"toAmount":"5"}',
      rig.createKeyHeaders(owner),
    );
    const thirdResponse = await rig.call("/console/api/payment-links", {
      method: "POST",
      headers: { ...sessionHeaders, "idempotency-key": "order-1" },
      body: '{"toAmount":"5"}',
    });
    expect([firstResponse.status, secondResponse.status, thirdResponse.status]).toEqual([
      200, 200, 200,
    ]);
    expect(secondResponse.text).toBe(firstResponse.text);
    expect(thirdResponse.text).toBe(firstResponse.text);
    expect(await countLinks(keyHeaders)).toBe(1);
    expect(await rig.listEvents(firstResponse.json.id)).toHaveLength(1);
  });

  test("given the same key and another body, returns 422 IDEMPOTENCY_KEY_REUSED", async () => {
    await createLink("order-2", '{"toAmount":"5"}');
    const response = await createLink("order-2", '{"toAmount": "5"}');
    expect(response.status).toBe(422);
    expect(response.json.errors[0].code).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  test("given another owner's equal key, creates a link for that owner", async () => {
    const otherKeyHeaders = rig.createKeyHeaders(sampleAccount());
    const ownResponse = await createLink("order-3", '{"toAmount":"5"}');
    const otherResponse = await createLink("order-3", '{"toAmount":"6"}', otherKeyHeaders);
    expect(otherResponse.status).toBe(200);
    expect(otherResponse.json.id).not.toBe(ownResponse.json.id);
  });

  test("while the first request runs, returns 409 immediately, and its crash leaves nothing stored (rule API-20)", async () => {
    const ownedKey = { scope: account.id, key: "order-4" };
    await rig.pool
      .transaction(async (tx) => {
        await tryLockKey(tx, ownedKey);
        const response = await createLink("order-4", '{"toAmount":"5"}');
        expect(response.status).toBe(409);
        expect(response.json.errors[0].code).toBe("IDEMPOTENCY_KEY_IN_USE");
        throw new Error("the first request crashed");
      })
      .catch((error: Error) => expect(error.message).toBe("the first request crashed"));
    expect((await createLink("order-4", '{"toAmount":"5"}')).status).toBe(200);
  });

  test("given ten concurrent requests, creates one link", async () => {
    const ownKeyHeaders = rig.createKeyHeaders(sampleAccount());
    const calls = Array.from({ length: 10 }, () =>
      createLink("order-5", '{"toAmount":"5"}', ownKeyHeaders),
    );
    const responses = await Promise.all(calls);
    const created = responses.filter(({ status }) => status === 200);
    expect(created.length).toBeGreaterThan(0);
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    expect(responses.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await countLinks(ownKeyHeaders)).toBe(1);
  });

  test("given a connection that breaks before the response is stored, stores no link (rule API-20)", async () => {
    const ownKeyHeaders = rig.createKeyHeaders(sampleAccount());
    const { brokenCall } = await rig.pool.transaction(async (tx) => {
      await tx.query(sqlVoid`LOCK TABLE idempotency_keys IN SHARE MODE`);
      const brokenCall = createLink("order-10", '{"toAmount":"5"}', ownKeyHeaders);
      // At this point the request has inserted its link and is waiting to insert its response.
      await rig.waitUntilBlocked(tx);
      await tx.query(sql.type(Terminated)`
        SELECT pg_terminate_backend(pid) AS "isTerminated" FROM pg_locks
        WHERE NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      `);
      return { brokenCall };
    });
    expect((await brokenCall).status).toBe(500);
    expect(await countLinks(ownKeyHeaders)).toBe(0);
    // A different body would be rejected if the key had been used.
    expect((await createLink("order-10", '{"toAmount":"6"}', ownKeyHeaders)).status).toBe(200);
    expect(await countLinks(ownKeyHeaders)).toBe(1);
  });

  test("given a rejected first request, stores nothing, so a corrected request may use the key (rule API-20)", async () => {
    expect((await createLink("order-6", '{"toAmount":"x"}')).status).toBe(422);
    expect((await createLink("order-6", '{"toAmount":"5"}')).status).toBe(200);
  });

  test.each([
    ["", 422],
    ["\u00fc", 422],
    ["x".repeat(256), 422],
    ["x".repeat(255), 200],
    ["a b~", 200],
  ])("given the key %j, returns %i (rule API-18)", async (idempotencyKey, status) => {
    const response = await createLink(idempotencyKey, '{"toAmount":"5"}');
    expect(response.status).toBe(status);
    if (status === 422) expect(response.json.errors[0].code).toBe("IDEMPOTENCY_KEY_INVALID");
    // The key is validated before the body.
    if (status === 422) expect((await createLink(idempotencyKey, "{")).text).toBe(response.text);
  });

  test("repeats the response after the link's expiry has passed, but not after 24 hours (rule API-20)", async () => {
    const keyHeaders = rig.createKeyHeaders(sampleAccount());
    const body = '{"toAmount":"5","expirationDate":"2026-11-21T10:30:00Z"}';
    const firstResponse = await createLink("order-7", body, keyHeaders);
    rig.clock.advance(dayMs - 1);
    expect((await createLink("order-7", body, keyHeaders)).text).toBe(firstResponse.text);
    rig.clock.advance(1);
    const expiredKeyResponse = await createLink("order-7", body, keyHeaders);
    expect(expiredKeyResponse.json.errors[0].code).toBe("datetime_future");
    const otherResponse = await createLink("order-7", '{"toAmount":"5"}', keyHeaders);
    expect(otherResponse.status).toBe(200);
    expect(otherResponse.json.id).not.toBe(firstResponse.json.id);
  });

  test("deletes responses older than 24 hours and retains newer ones", async () => {
    await createLink("order-8", '{"toAmount":"5"}');
    rig.clock.advance(dayMs);
    const recentResponse = await createLink("order-9", '{"toAmount":"5"}');
    await deleteIdempotencyKeys(rig.dependencies).run();
    expect((await createLink("order-9", '{"toAmount":"5"}')).text).toBe(recentResponse.text);
    expect(await rig.countStoredResponses()).toBe(1);
  });
});
