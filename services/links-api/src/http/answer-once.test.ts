import { beforeAll, describe, expect, test } from "@jest/globals";
import { type Account } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { forgetIdempotencyKeys } from "../jobs/forget-idempotency-keys.ts";
import { tryLockKey } from "../store/idempotency-keys.ts";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount } from "../testing/samples.ts";

const rig = useRig(openRig);
let account: Account;
let headers: Record<string, string>;
beforeAll(async () => {
  account = sampleAccount();
  headers = rig.giveKey(account);
});

const create = (key: string, body: string, more: Record<string, string> = headers) =>
  rig.call("/v1/payment-link", {
    method: "POST",
    headers: { ...more, "idempotency-key": key },
    body,
  });

const count = async (of: Record<string, string>) =>
  (await rig.call("/v1/payment-link", { headers: of })).json.data.length;

const dayMs = 24 * 60 * 60 * 1000;

const Terminated = z.object({ isTerminated: z.boolean() });

describe("Idempotency-Key (rule API-19)", () => {
  test("given the same key and body, answers as the first time, and there is one link and one event", async () => {
    const owner = sampleAccount();
    const key = rig.giveKey(owner);
    const first = await create("order-1", '{"toAmount":"5"}', key);
    // The key stands for the owner: another of their API keys, or the console, repeats it too.
    const session = rig.giveSession({ ...owner, version: 2, handle: "moved_on" });
    const second = await create("order-1", '{"toAmount":"5"}', rig.giveKey(owner));
    const third = await rig.call("/console/api/payment-links", {
      method: "POST",
      headers: { ...session, "idempotency-key": "order-1" },
      body: '{"toAmount":"5"}',
    });
    expect([first.status, second.status, third.status]).toEqual([200, 200, 200]);
    expect(second.text).toBe(first.text);
    expect(third.text).toBe(first.text);
    expect(await count(key)).toBe(1);
    expect(await rig.eventsOf(first.json.id)).toHaveLength(1);
  });

  test("given the same key and other bytes, answers 422 IDEMPOTENCY_KEY_REUSED", async () => {
    await create("order-2", '{"toAmount":"5"}');
    const answer = await create("order-2", '{"toAmount": "5"}');
    expect(answer.status).toBe(422);
    expect(answer.json.errors[0].code).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  test("given another owner's key of the same name, makes a link of their own", async () => {
    const other = rig.giveKey(sampleAccount());
    const mine = await create("order-3", '{"toAmount":"5"}');
    const theirs = await create("order-3", '{"toAmount":"6"}', other);
    expect(theirs.status).toBe(200);
    expect(theirs.json.id).not.toBe(mine.json.id);
  });

  test("given the first call still running, answers 409 at once, and its crash leaves nothing (rule API-20)", async () => {
    const ownedKey = { ownerId: account.id, key: "order-4" };
    await rig.pool
      .transaction(async (tx) => {
        await tryLockKey(tx, ownedKey);
        const answer = await create("order-4", '{"toAmount":"5"}');
        expect(answer.status).toBe(409);
        expect(answer.json.errors[0].code).toBe("IDEMPOTENCY_KEY_IN_USE");
        throw new Error("the first call crashed");
      })
      .catch((error: Error) => expect(error.message).toBe("the first call crashed"));
    expect((await create("order-4", '{"toAmount":"5"}')).status).toBe(200);
  });

  test("given ten calls at once, makes one link", async () => {
    const own = rig.giveKey(sampleAccount());
    const calls = Array.from({ length: 10 }, () => create("order-5", '{"toAmount":"5"}', own));
    const answers = await Promise.all(calls);
    const made = answers.filter(({ status }) => status === 200);
    expect(made.length).toBeGreaterThan(0);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await count(own)).toBe(1);
  });

  test("given a connection that breaks before the answer is stored, stores no link either (rule API-20)", async () => {
    const own = rig.giveKey(sampleAccount());
    const { broken } = await rig.pool.transaction(async (tx) => {
      await tx.query(nothing`LOCK TABLE idempotency_keys IN SHARE MODE`);
      const broken = create("order-10", '{"toAmount":"5"}', own);
      // The call has inserted its link, and waits to insert its answer.
      await rig.untilBlocked(tx);
      await tx.query(sql.type(Terminated)`
        SELECT pg_terminate_backend(pid) AS "isTerminated" FROM pg_locks
        WHERE NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      `);
      return { broken };
    });
    expect((await broken).status).toBe(500);
    expect(await count(own)).toBe(0);
    // Other bytes: the key is free.
    expect((await create("order-10", '{"toAmount":"6"}', own)).status).toBe(200);
    expect(await count(own)).toBe(1);
  });

  test("given a refused first call, keeps nothing, so that the mended call may use the key (rule API-20)", async () => {
    expect((await create("order-6", '{"toAmount":"x"}')).status).toBe(422);
    expect((await create("order-6", '{"toAmount":"5"}')).status).toBe(200);
  });

  test.each([
    ["", 422],
    ["\u00fc", 422],
    ["x".repeat(256), 422],
    ["x".repeat(255), 200],
    ["a b~", 200],
  ])("given the key %j, answers %i (rule API-18)", async (key, status) => {
    const answer = await create(key, '{"toAmount":"5"}');
    expect(answer.status).toBe(status);
    if (status === 422) expect(answer.json.errors[0].code).toBe("IDEMPOTENCY_KEY_INVALID");
    // Checked before the body.
    if (status === 422) expect((await create(key, "{")).text).toBe(answer.text);
  });

  test("given an expiry that has passed since, a repeat is still answered; after 24 hours it is not (rule API-20)", async () => {
    const key = rig.giveKey(sampleAccount());
    const body = '{"toAmount":"5","expirationDate":"2026-11-21T10:30:00Z"}';
    const first = await create("order-7", body, key);
    rig.clock.advance(dayMs - 1);
    expect((await create("order-7", body, key)).text).toBe(first.text);
    rig.clock.advance(1);
    const late = await create("order-7", body, key);
    expect(late.json.errors[0].code).toBe("datetime_future");
    const other = await create("order-7", '{"toAmount":"5"}', key);
    expect(other.status).toBe(200);
    expect(other.json.id).not.toBe(first.json.id);
  });

  test("answers older than 24 hours are deleted, younger ones stay", async () => {
    await create("order-8", '{"toAmount":"5"}');
    rig.clock.advance(dayMs);
    const young = await create("order-9", '{"toAmount":"5"}');
    await forgetIdempotencyKeys(rig.deps).run();
    expect((await create("order-9", '{"toAmount":"5"}')).text).toBe(young.text);
    expect(await rig.countKeptAnswers()).toBe(1);
  });
});
