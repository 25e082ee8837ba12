import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Merchant, call, createMerchant } from "./rig/client.ts";
import { startServicesInProcess } from "./rig/services-in-process.ts";

const burst = 20;

let system: Awaited<ReturnType<typeof startServicesInProcess>>;
beforeAll(async () => {
  const perAddress = { tokensPerSecond: 100_000, burst: 100_000 };
  // The clock is stopped. A bucket refills only when a test advances the clock.
  const perKey = { tokensPerSecond: 0.001, burst };
  system = await startServicesInProcess({ limits: { perKey, perAddress } });
});
afterAll(() => system?.close());

const callConsole = (merchant: Merchant, method: "GET" | "DELETE", path: string) =>
  call(`${system.baseUrl}/console/api/${path}`, { method, headers: { cookie: merchant.cookie } });

const createMerchantWithKey = async (handle: string) => {
  const merchant = await createMerchant(system, handle);
  const { body } = await callConsole(merchant, "GET", "api-keys");
  const [{ id } = { id: "" }] = body["data"] as { id: string }[];
  return { merchant, oldKey: { id, key: merchant.apiKey } };
};

const rotateKey = async (merchant: Merchant, id: string, body: unknown = {}) => {
  const response = await call(`${system.baseUrl}/console/api/api-keys/${id}/rotate`, {
    method: "POST",
    headers: { cookie: merchant.cookie },
    body,
  });
  expect(response.status).toBe(201);
  return { id: String(response.body["id"]), key: String(response.body["key"]) };
};

const listLinks = async (key: string): Promise<string> => {
  const response = await call(`${system.baseUrl}/v1/payment-link`, {
    headers: { "x-api-key": key },
  });
  const [error] = (response.body["errors"] ?? []) as { code: string }[];
  return error === undefined ? String(response.status) : error.code;
};

const countPassed = async (keys: readonly string[], callCount: number): Promise<number> => {
  let passedCount = 0;
  for (let callIndex = 0; callIndex < callCount; callIndex += 1) {
    if ((await listLinks(keys[callIndex % keys.length] ?? "")) === "200") passedCount += 1;
  }
  return passedCount;
};

describe("keys rotated from one another", () => {
  test("share one rate limit", async () => {
    const { merchant, oldKey } = await createMerchantWithKey("one_limit");
    const secondKey = await rotateKey(merchant, oldKey.id);
    const thirdKey = await rotateKey(merchant, secondKey.id);
    expect(await countPassed([oldKey.key, secondKey.key, thirdKey.key], burst * 3)).toBe(burst);
  });

  test("get no second limit after another rotation, or when the first of them is revoked", async () => {
    const { merchant, oldKey } = await createMerchantWithKey("no_more");
    expect(await countPassed([oldKey.key], burst + 1)).toBe(burst);
    const secondKey = await rotateKey(merchant, oldKey.id);
    expect(await listLinks(secondKey.key)).toBe("429");
    await callConsole(merchant, "DELETE", `api-keys/${oldKey.id}`);
    const thirdKey = await rotateKey(merchant, secondKey.id);
    expect(await listLinks(thirdKey.key)).toBe("429");
  });

  test("both work during the overlap, and the old one expires exactly at its end", async () => {
    const { merchant, oldKey } = await createMerchantWithKey("overlapping");
    const newKey = await rotateKey(merchant, oldKey.id, { overlapSeconds: 3 });
    system.clock.advance(2_999);
    expect([await listLinks(oldKey.key), await listLinks(newKey.key)]).toEqual(["200", "200"]);
    // The overlap ends while the introspection is still cached (5 s), but a key's expiration is
    // checked on every use.
    system.clock.advance(1);
    expect([await listLinks(oldKey.key), await listLinks(newKey.key)]).toEqual([
      "EXPIRED_API_KEY",
      "200",
    ]);
  });

  test("without an overlap, reject the old one within 5 seconds, as if it were revoked", async () => {
    const { merchant, oldKey } = await createMerchantWithKey("leaked");
    expect(await listLinks(oldKey.key)).toBe("200");
    await rotateKey(merchant, oldKey.id, { overlapSeconds: 0 });
    system.clock.advance(5_001);
    expect(await listLinks(oldKey.key)).toBe("EXPIRED_API_KEY");
  });
});
