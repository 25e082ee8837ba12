import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { startTestListeners } from "@payment-links/process/testing";
import { sql } from "slonik";
import * as z from "zod";
import { waitUntil } from "@payment-links/runtime/testing";
import { type Receiver, expectedSignature, startReceiver } from "../testing/start-receiver.ts";
import { type Rig, createRig, sealingKey } from "../testing/create-rig.ts";

const newKey = `second=${Buffer.alloc(32, 9).toString("base64")}`;
const path = "/internal/webhook-secrets/reseal";
const voidRow = sql.type(z.object({}).strict());

let receiver: Receiver;
let rig: Rig;
let server: Awaited<ReturnType<typeof startTestListeners>> | undefined;
beforeEach(async () => {
  receiver = await startReceiver();
  rig = await createRig({
    environment: { WEBHOOK_HOST_OVERRIDES: `receiver.test=${receiver.origin}` },
  });
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await rig.close();
  await receiver.close();
});

/** Starts a dispatcher with the new key first, as after a rolling configuration change. */
const startWithRotatedKeys = async () => {
  const keys = { WEBHOOK_SECRET_KEYS: `${newKey},${sealingKey}` };
  const { service } = await rig.startAnother(keys);
  const { internalUrl } = (server = await startTestListeners(service, rig.context));
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
 * Adds endpoints of unknown accounts. Their secrets were encrypted for another endpoint, so none of
 * them can be decrypted.
 */
const addUnopenableSecrets = (count: number) =>
  rig.pool.query(voidRow`
    INSERT INTO endpoints (id, user_id, url, name, enabled, secret_prefix, sealed_secret,
                           secret_key_name, date_created)
    SELECT 'whe_' || lpad(n::text, 6, '0'), 'user_x', 'https://shop.com/', 'x', true, 'whsec_',
           sealed_secret, secret_key_name, now()
    FROM (SELECT * FROM endpoints LIMIT 1) AS one, generate_series(1, ${count}::int) AS n
  `);

describe("POST /internal/webhook-secrets/reseal", () => {
  test("seals all secrets with the first key during operation, and then the old key can be removed", async () => {
    const person = rig.signIn();
    const endpoints = [await rig.register(person, "/1"), await rig.register(person, "/2")];
    const rotatedDispatcher = await startWithRotatedKeys();
    const expectedResponse = { keyName: "second", resealedCount: 2, unopenedCount: 0 };
    expect(await rotatedDispatcher.reseal()).toEqual(expectedResponse);
    expect(await countByKey()).toEqual([{ keyName: "second", count: 2 }]);
    expect(await rotatedDispatcher.reseal()).toEqual({ ...expectedResponse, resealedCount: 0 });
    await rotatedDispatcher.service.stop();

    await rig.startAnother({ WEBHOOK_SECRET_KEYS: newKey });
    await rig.publishCompleted(person);
    await waitUntil("both webhooks arrive", () => receiver.received.length === 2);
    for (const [index, { secret }] of endpoints.entries()) {
      const receivedWebhook = receiver.received.find((request) => request.path === `/${index + 1}`);
      if (receivedWebhook === undefined) throw new Error("a webhook was not received");
      expect(receivedWebhook.headers["service-signature"]).toBe(
        expectedSignature(receivedWebhook, secret),
      );
    }
  });

  test("processes all secrets in batches, skips unopenable ones, and counts them", async () => {
    const person = rig.signIn();
    await rig.register(person);
    await addUnopenableSecrets(450);
    const rotatedDispatcher = await startWithRotatedKeys();
    expect(await rotatedDispatcher.reseal()).toEqual({
      keyName: "second",
      resealedCount: 1,
      unopenedCount: 450,
    });
    expect(await countByKey()).toEqual([
      { keyName: "first", count: 450 },
      { keyName: "second", count: 1 },
    ]);
  });

  test("seals each secret once in two concurrent runs, with registrations at the same time", async () => {
    const people = Array.from({ length: 20 }, () => rig.signIn());
    await Promise.all(people.map((person, index) => rig.register(person, `/before/${index}`)));
    const rotatedDispatcher = await startWithRotatedKeys();
    const [first, second] = await Promise.all([
      rotatedDispatcher.reseal(),
      rotatedDispatcher.reseal(),
      ...people.map((person, index) => rig.register(person, `/during/${index}`)),
    ]);
    const third = await rotatedDispatcher.reseal();
    const counts = [first, second, third].map((response) => Number(Object(response).resealedCount));
    expect(counts.reduce((sum, count) => sum + count)).toBe(40);
    expect(await countByKey()).toEqual([{ keyName: "second", count: 40 }]);
    for (const person of people) await rig.publishCompleted(person);
    await waitUntil("all webhooks arrive", () => receiver.received.length === 40);
  });

  test("ignores a deleted endpoint's secret, which signs nothing anymore", async () => {
    const person = rig.signIn();
    const { path: endpointPath } = await rig.register(person);
    await rig.call(person, "DELETE", endpointPath);
    const rotatedDispatcher = await startWithRotatedKeys();
    expect(await rotatedDispatcher.reseal()).toMatchObject({ resealedCount: 0, unopenedCount: 0 });
  });
});
