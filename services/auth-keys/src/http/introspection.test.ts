import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { hashSecret, mintApiKey } from "@payment-links/contracts";
import { nothing, openPool } from "@payment-links/postgres";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig, refusalOf } from "../testing/open-rig.ts";

const rig = useRig(openRig);

const createKey = async (cookie: string, more: Record<string, unknown> = {}) => {
  const body = { name: "n", scopes: ["payment_link:create"], ...more };
  const answer = await rig.call("POST", "/console/api/api-keys", { cookie, body });
  return String(answer.body["key"]);
};

describe("POST /internal/introspect", () => {
  test("tells the account with its wallets and version, as the last commit left it", async () => {
    const { userId, cookie } = await rig.signUp({ handle: "introspected", username: "In" });
    const key = await createKey(cookie);
    const before = await rig.introspect("api-key", key);
    expect(before).toMatchObject({ account: { version: 1, wallets: [] } });
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
        wallets: [
          {
            id: expect.stringMatching(/^wallet_/),
            ...wallet,
            chainType: "EVM",
            isDefault: true,
            isChainDefault: true,
            provider: null,
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
      },
    });
  });

  test("tells a session's person and its end, and no scopes", async () => {
    const { userId, cookie } = await rig.signUp();
    const token = cookie.slice("session=".length);
    expect(await rig.introspect("session", token)).toMatchObject({
      found: true,
      account: { id: userId },
      credential: { scopes: [], expiresAt: "2026-11-21T12:00:00.000Z" },
    });
  });

  test("a key is no session, and a session no key", async () => {
    const { cookie } = await rig.signUp();
    const key = await createKey(cookie);
    const token = cookie.slice("session=".length);
    expect(await rig.introspect("session", key)).toEqual({ found: false });
    expect(await rig.introspect("api-key", token)).toEqual({ found: false });
  });

  test("answers the same without HTTP", async () => {
    const { cookie } = await rig.signUp();
    const key = await createKey(cookie);
    const hash = hashSecret(key).toString("hex");
    const answer = await rig.service.ask({ kind: "api-key", hash });
    expect(JSON.parse(JSON.stringify(answer))).toEqual(await rig.introspect("api-key", key));
  });

  test("an unknown, a switched-off and a revoked key are answered byte for byte alike", async () => {
    const { cookie } = await rig.signUp();
    const texts = new Set<string>();
    const ask = async (key: string) => {
      const body = { kind: "api-key", hash: hashSecret(key).toString("hex") };
      texts.add((await rig.call("POST", "/internal/introspect", { body })).text);
    };
    await ask(mintApiKey("live"));
    const keys = [await createKey(cookie), await createKey(cookie)];
    const { body } = await rig.call("GET", "/console/api/api-keys", { cookie });
    const [one, two] = (body["data"] as { id: string }[]).map(({ id }) => id);
    const path = "/console/api/api-keys";
    await rig.call("PATCH", `${path}/${one}`, { cookie, body: { active: false } });
    await rig.call("DELETE", `${path}/${two}`, { cookie });
    for (const key of keys) await ask(key);
    expect([...texts]).toEqual(['{"found":false}']);
  });

  test("without the database answers 503, which is no fault of the key, and 200 once it is back", async () => {
    const own = await openRig();
    const { cookie } = await own.signUp();
    const { body } = await own.call("POST", "/console/api/api-keys", {
      cookie,
      body: { name: "n", scopes: ["payment_link:read"] },
    });
    const hash = hashSecret(String(body["key"])).toString("hex");
    const ask = () => own.call("POST", "/internal/introspect", { body: { kind: "api-key", hash } });
    const { adminUrl } = own.database;
    const name = new URL(adminUrl).pathname.slice(1);
    const database = sql.identifier([name]);
    const server = await openPool({
      url: new URL("/postgres", adminUrl).href,
      applicationName: "test",
      connectionsMax: 1,
      log: own.ground.log,
    });
    await server.query(nothing`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
    await server.query(sql.type(z.object({ done: z.boolean() }))`
      SELECT pg_terminate_backend(pid) AS done FROM pg_stat_activity WHERE datname = ${name}
    `);
    expect(refusalOf(await ask())).toBe("503 SERVICE_UNAVAILABLE");
    await server.query(nothing`ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    await server.end();
    await waitUntil("the database is back", async () => (await ask()).status === 200);
    await own.close();
  });

  test("an account that cannot be read is answered 500, and every other as ever", async () => {
    const broken = await rig.signUp();
    const key = await createKey(broken.cookie);
    await rig.call("POST", "/console/api/wallets", {
      cookie: broken.cookie,
      body: { walletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", tokenId: "usdc-base" },
    });
    await rig.pool.query(nothing`
      UPDATE wallets SET chain_type = 'unheard of' WHERE account_id = ${broken.userId}
    `);
    const hash = hashSecret(key).toString("hex");
    const answer = await rig.call("POST", "/internal/introspect", {
      body: { kind: "api-key", hash },
    });
    expect(refusalOf(answer)).toBe("500 INTERNAL_ERROR");
    const { cookie } = await rig.signUp();
    expect(await rig.introspect("api-key", await createKey(cookie))).toMatchObject({ found: true });
  });

  test("questions are counted by kind and outcome", async () => {
    const { cookie } = await rig.signUp();
    const key = await createKey(cookie);
    await rig.introspect("api-key", key);
    await rig.introspect("api-key", mintApiKey("live"));
    const metric = rig.metrics.getSingleMetric("payment_links_introspections_total");
    const counted = (await metric?.get())?.values.map(({ labels }) => labels) ?? [];
    expect(counted).toEqual(
      expect.arrayContaining([
        { kind: "api-key", outcome: "valid" },
        { kind: "api-key", outcome: "unknown" },
        { kind: "session", outcome: "valid" },
      ]),
    );
  });

  test.each([
    ["nothing", "422 missing", ""],
    ["a list", "422 model_attributes_type", "[]"],
    ["the secret itself", "422 model_attributes_type", { kind: "api-key", hash: "plk_live_x" }],
    ["another kind", "422 model_attributes_type", { kind: "root", hash: "ab".repeat(32) }],
    ["a hash in capitals", "422 model_attributes_type", { kind: "api-key", hash: "AB".repeat(32) }],
  ])("given %s, answers %s", async (_name, expected, body) => {
    expect(refusalOf(await rig.call("POST", "/internal/introspect", { body }))).toBe(expected);
  });
});
