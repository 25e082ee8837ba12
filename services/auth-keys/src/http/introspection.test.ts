import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { hashSecret, mintApiKey } from "@payment-links/contracts";
import { type Rig, openRig, refusalOf } from "../testing/open-rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

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
