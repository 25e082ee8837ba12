import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { serveForTest } from "@payment-links/process/testing";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Receiver, expectedSignature, openReceiver } from "../testing/open-receiver.ts";
import { type Rig, openRig, sealingKey } from "../testing/open-rig.ts";

const newKey = `second=${Buffer.alloc(32, 9).toString("base64")}`;
const path = "/internal/webhook-secrets/reseal";
const nothing = sql.type(z.object({}).strict());

let receiver: Receiver;
let rig: Rig;
let served: Awaited<ReturnType<typeof serveForTest>> | undefined;
beforeEach(async () => {
  receiver = await openReceiver();
  rig = await openRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${receiver.origin}` },
  });
});
afterEach(async () => {
  await served?.close();
  served = undefined;
  await rig.close();
  await receiver.close();
});

/** A dispatcher with the new key first, as after a rolling change of the configuration. */
const startRotated = async () => {
  const keys = { WEBHOOK_SECRET_KEYS: `${newKey},${sealingKey}` };
  const { service } = await rig.startAnother(keys);
  const { internalUrl } = (served = await serveForTest(service, rig.ground));
  const reseal = async () => (await fetch(internalUrl + path, { method: "POST" })).json();
  return { service, reseal };
};

const Counts = z.object({ keyName: z.string(), count: z.int() });
const countByKey = () =>
  rig.pool.any(sql.type(Counts)`
    SELECT secret_key_name AS "keyName", count(*)::int AS count FROM endpoints
    WHERE deleted_at IS NULL GROUP BY secret_key_name ORDER BY secret_key_name
  `);

/**
 * Many endpoints of accounts that do not exist. Each secret was sealed for another endpoint, so it
 * opens for none.
 */
const addUnopenable = (count: number) =>
  rig.pool.query(nothing`
    INSERT INTO endpoints (id, user_id, url, name, enabled, secret_prefix, sealed_secret,
                           secret_key_name, date_created)
    SELECT 'whe_' || lpad(n::text, 6, '0'), 'user_x', 'https://shop.com/', 'x', true, 'whsec_',
           sealed_secret, secret_key_name, now()
    FROM (SELECT * FROM endpoints LIMIT 1) AS one, generate_series(1, ${count}::int) AS n
  `);

describe("POST /internal/webhook-secrets/reseal", () => {
  test("seals all under the first key while serving, and then the old key may go", async () => {
    const person = rig.signIn();
    const endpoints = [await rig.register(person, "/1"), await rig.register(person, "/2")];
    const rotated = await startRotated();
    const answer = { keyName: "second", resealedCount: 2, unopenedCount: 0 };
    expect(await rotated.reseal()).toEqual(answer);
    expect(await countByKey()).toEqual([{ keyName: "second", count: 2 }]);
    expect(await rotated.reseal()).toEqual({ ...answer, resealedCount: 0 });
    await rotated.service.stop();

    await rig.startAnother({ WEBHOOK_SECRET_KEYS: newKey });
    await rig.tellCompleted(person);
    await waitUntil("both arrive", () => receiver.received.length === 2);
    for (const [at, { secret }] of endpoints.entries()) {
      const got = receiver.received.find((one) => one.path === `/${at + 1}`);
      if (got === undefined) throw new Error("one was not received");
      expect(got.headers["service-signature"]).toBe(expectedSignature(got, secret));
    }
  });

  test("goes through all in batches, past what cannot be opened, and counts that", async () => {
    const person = rig.signIn();
    await rig.register(person);
    await addUnopenable(450);
    const rotated = await startRotated();
    expect(await rotated.reseal()).toEqual({
      keyName: "second",
      resealedCount: 1,
      unopenedCount: 450,
    });
    expect(await countByKey()).toEqual([
      { keyName: "first", count: 450 },
      { keyName: "second", count: 1 },
    ]);
  });

  test("twice at once, with registrations between, seals each secret once and loses none", async () => {
    const people = Array.from({ length: 20 }, () => rig.signIn());
    await Promise.all(people.map((person, at) => rig.register(person, `/before/${at}`)));
    const rotated = await startRotated();
    const [one, two] = await Promise.all([
      rotated.reseal(),
      rotated.reseal(),
      ...people.map((person, at) => rig.register(person, `/during/${at}`)),
    ]);
    const last = await rotated.reseal();
    const counts = [one, two, last].map((answer) => Number(Object(answer).resealedCount));
    expect(counts.reduce((sum, count) => sum + count)).toBe(40);
    expect(await countByKey()).toEqual([{ keyName: "second", count: 40 }]);
    for (const person of people) await rig.tellCompleted(person);
    await waitUntil("all arrive, signed", () => receiver.received.length === 40);
  });

  test("leaves a deleted endpoint's secret alone: nothing is signed with it any more", async () => {
    const person = rig.signIn();
    const { path: own } = await rig.register(person);
    await rig.call(person, "DELETE", own);
    const rotated = await startRotated();
    expect(await rotated.reseal()).toMatchObject({ resealedCount: 0, unopenedCount: 0 });
  });
});
