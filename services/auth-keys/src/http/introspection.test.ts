import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { hashSecret, generateApiKey } from "@payment-links/contracts";
import { sqlVoid, connectPool } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const rig = useRig(createRig);

const createKey = async (cookie: string, overrides: Record<string, unknown> = {}) => {
  const body = { name: "n", scopes: ["payment_link:create"], ...overrides };
  const response = await rig.call("POST", "/console/api/api-keys", { cookie, body });
  return String(response.body["key"]);
};

describe("POST /internal/introspect", () => {
  test("returns the account with its wallets and version as of the last commit", async () => {
    const { userId, cookie } = await rig.signUp({ handle: "introspected", username: "In" });
    const key = await createKey(cookie);
    const introspectionBefore = await rig.introspect("api-key", key);
    expect(introspectionBefore).toMatchObject({ account: { version: 1, wallets: [] } });
    const wallet = { walletAddress: `0x${"1".repeat(40)}`, tokenId: "usdc-base" };
    await rig.call("POST", "/console/api/wallets", { cookie, body: wallet });
    expect(await rig.introspect("api-key", key)).toEqual({
      found: true,
      account: {
        id: userId,
        version: 2,
        handle: "introspected",
        username: "In",
        dateCreated: "2026-11-21T10:00:00.000Z",
        profileImage: null,
        bio: null,
        backgroundImage: null,
        backgroundColour: null,
        links: null,
        returnUrl: null,
        wallets: [
          {
            id: expect.stringMatching(/^wallet_/),
            ...wallet,
            chainType: "EVM",
            isDefault: true,
            isChainDefault: true,
            provider: null,
            mode: "live",
          },
        ],
        isSuspended: false,
        isVerified: true,
      },
      credential: {
        id: expect.stringMatching(/^key_/),
        bucketId: expect.stringMatching(/^key_/),
        scopes: ["payment_link:create"],
        expiresAt: null,
        mode: "live",
      },
    });
  });

  test("returns a session's user and its end, and no scopes", async () => {
    const { userId, cookie } = await rig.signUp();
    const token = cookie.slice("session=".length);
    expect(await rig.introspect("session", token)).toMatchObject({
      found: true,
      account: { id: userId },
      credential: { scopes: [], expiresAt: "2026-11-21T12:00:00.000Z" },
    });
  });

  test("does not accept a key as a session, nor a session as a key", async () => {
    const { cookie } = await rig.signUp();
    const key = await createKey(cookie);
    const token = cookie.slice("session=".length);
    expect(await rig.introspect("session", key)).toEqual({ found: false });
    expect(await rig.introspect("api-key", token)).toEqual({ found: false });
  });

  test("returns the same result in-process", async () => {
    const { cookie } = await rig.signUp();
    const key = await createKey(cookie);
    const hash = hashSecret(key).toString("hex");
    const response = await rig.service.requestIntrospection({ kind: "api-key", hash });
    expect(JSON.parse(JSON.stringify(response))).toEqual(await rig.introspect("api-key", key));
  });

  test("responds byte for byte the same for an unknown, an inactive and a revoked key", async () => {
    const { cookie } = await rig.signUp();
    const texts = new Set<string>();
    const introspectKey = async (key: string) => {
      const body = { kind: "api-key", hash: hashSecret(key).toString("hex") };
      texts.add((await rig.call("POST", "/internal/introspect", { body })).text);
    };
    await introspectKey(generateApiKey("live"));
    const keys = [await createKey(cookie), await createKey(cookie)];
    const { body } = await rig.call("GET", "/console/api/api-keys", { cookie });
    const [firstKeyId, secondKeyId] = (body["data"] as { id: string }[]).map(({ id }) => id);
    const path = "/console/api/api-keys";
    await rig.call("PATCH", `${path}/${firstKeyId}`, { cookie, body: { active: false } });
    await rig.call("DELETE", `${path}/${secondKeyId}`, { cookie });
    for (const key of keys) await introspectKey(key);
    expect([...texts]).toEqual(['{"found":false}']);
  });

  test("responds 503 while the database is unavailable, and 200 once it is back", async () => {
    const ownRig = await createRig();
    const { cookie } = await ownRig.signUp();
    const { body } = await ownRig.call("POST", "/console/api/api-keys", {
      cookie,
      body: { name: "n", scopes: ["payment_link:read"] },
    });
    const hash = hashSecret(String(body["key"])).toString("hex");
    const introspectKey = () =>
      ownRig.call("POST", "/internal/introspect", { body: { kind: "api-key", hash } });
    const { adminUrl } = ownRig.database;
    const name = new URL(adminUrl).pathname.slice(1);
    const databaseIdentifier = sql.identifier([name]);
    const adminPool = await connectPool({
      url: new URL("/postgres", adminUrl).href,
      applicationName: "test",
      connectionsMax: 1,
      log: ownRig.context.log,
    });
    await adminPool.query(sqlVoid`ALTER DATABASE ${databaseIdentifier} ALLOW_CONNECTIONS false`);
    await adminPool.query(sql.type(z.object({ done: z.boolean() }))`
      SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity WHERE datname = ${name}
    `);
    expect(summarizeResponse(await introspectKey())).toBe("503 SERVICE_UNAVAILABLE");
    await adminPool.query(sqlVoid`ALTER DATABASE ${databaseIdentifier} ALLOW_CONNECTIONS true`);
    await adminPool.end();
    await waitUntil("the database is back", async () => (await introspectKey()).status === 200);
    await ownRig.close();
  });

  test("responds 500 for a corrupt account, and works for every other account", async () => {
    const corruptedAccount = await rig.signUp();
    const key = await createKey(corruptedAccount.cookie);
    await rig.call("POST", "/console/api/wallets", {
      cookie: corruptedAccount.cookie,
      body: { walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", tokenId: "usdc-base" },
    });
    await rig.pool.query(sqlVoid`
      UPDATE wallets SET chain_type = 'unheard of' WHERE account_id = ${corruptedAccount.userId}
    `);
    const hash = hashSecret(key).toString("hex");
    const response = await rig.call("POST", "/internal/introspect", {
      body: { kind: "api-key", hash },
    });
    expect(summarizeResponse(response)).toBe("500 INTERNAL_ERROR");
    const { cookie } = await rig.signUp();
    expect(await rig.introspect("api-key", await createKey(cookie))).toMatchObject({ found: true });
  });

  test("counts requests by kind and outcome", async () => {
    const { cookie } = await rig.signUp();
    const key = await createKey(cookie);
    await rig.introspect("api-key", key);
    await rig.introspect("api-key", generateApiKey("live"));
    const metric = rig.metrics.getSingleMetric("payment_links_introspections_total");
    const countedLabels = (await metric?.get())?.values.map(({ labels }) => labels) ?? [];
    expect(countedLabels).toEqual(
      expect.arrayContaining([
        { kind: "api-key", outcome: "valid" },
        { kind: "api-key", outcome: "unknown" },
        { kind: "session", outcome: "valid" },
      ]),
    );
  });

  test.each([
    ["an empty body", "422 missing", ""],
    ["a list", "422 model_attributes_type", "[]"],
    ["the secret itself", "422 model_attributes_type", { kind: "api-key", hash: "plk_live_x" }],
    ["another kind", "422 model_attributes_type", { kind: "root", hash: "ab".repeat(32) }],
    [
      "a hash in upper case",
      "422 model_attributes_type",
      { kind: "api-key", hash: "AB".repeat(32) },
    ],
  ])("given %s, responds %s", async (_name, expected, body) => {
    expect(summarizeResponse(await rig.call("POST", "/internal/introspect", { body }))).toBe(
      expected,
    );
  });
});
