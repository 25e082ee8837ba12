import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Merchant, call, openMerchant } from "./rig/client.ts";
import { openServicesInProcess } from "./rig/services-in-process.ts";

const burst = 20;

let system: Awaited<ReturnType<typeof openServicesInProcess>>;
beforeAll(async () => {
  const perAddress = { tokensPerSecond: 100_000, burst: 100_000 };
  // The clock stands still: a bucket refills only when a test lets time pass.
  const perKey = { tokensPerSecond: 0.001, burst };
  system = await openServicesInProcess({ limits: { perKey, perAddress } });
});
afterAll(() => system?.close());

const consoleCall = (merchant: Merchant, method: "GET" | "DELETE", path: string) =>
  call(`${system.baseUrl}/console/api/${path}`, { method, headers: { cookie: merchant.cookie } });

const openKeyed = async (handle: string) => {
  const merchant = await openMerchant(system, handle);
  const { body } = await consoleCall(merchant, "GET", "api-keys");
  const [{ id } = { id: "" }] = body["data"] as { id: string }[];
  return { merchant, old: { id, key: merchant.apiKey } };
};

const rotate = async (merchant: Merchant, id: string, body: unknown = {}) => {
  const answer = await call(`${system.baseUrl}/console/api/api-keys/${id}/rotate`, {
    method: "POST",
    headers: { cookie: merchant.cookie },
    body,
  });
  expect(answer.status).toBe(201);
  return { id: String(answer.body["id"]), key: String(answer.body["key"]) };
};

const list = async (key: string): Promise<string> => {
  const answer = await call(`${system.baseUrl}/v1/payment-link`, { headers: { "x-api-key": key } });
  const [error] = (answer.body["errors"] ?? []) as { code: string }[];
  return error === undefined ? String(answer.status) : error.code;
};

const passedOf = async (keys: readonly string[], calls: number): Promise<number> => {
  let passed = 0;
  for (let made = 0; made < calls; made += 1) {
    if ((await list(keys[made % keys.length] ?? "")) === "200") passed += 1;
  }
  return passed;
};

describe("keys rotated from one another", () => {
  test("have one key's limit together, not one each", async () => {
    const { merchant, old } = await openKeyed("one_limit");
    const second = await rotate(merchant, old.id);
    const third = await rotate(merchant, second.id);
    expect(await passedOf([old.key, second.key, third.key], burst * 3)).toBe(burst);
  });

  test("give no second limit to whoever rotates again, or revokes the first of them", async () => {
    const { merchant, old } = await openKeyed("no_more");
    expect(await passedOf([old.key], burst + 1)).toBe(burst);
    const second = await rotate(merchant, old.id);
    expect(await list(second.key)).toBe("429");
    await consoleCall(merchant, "DELETE", `api-keys/${old.id}`);
    const third = await rotate(merchant, second.id);
    expect(await list(third.key)).toBe("429");
  });

  test("both work while they overlap; the old one is dead the instant that is over", async () => {
    const { merchant, old } = await openKeyed("overlapping");
    const fresh = await rotate(merchant, old.id, { overlapSeconds: 3 });
    system.clock.advance(2_999);
    expect([await list(old.key), await list(fresh.key)]).toEqual(["200", "200"]);
    // This is within the 5 s for which an answer about a key counts, but the key's end is checked
    // at every use.
    system.clock.advance(1);
    expect([await list(old.key), await list(fresh.key)]).toEqual(["EXPIRED_API_KEY", "200"]);
  });

  test("without an overlap the old one is dead within five seconds, as if it was revoked", async () => {
    const { merchant, old } = await openKeyed("leaked");
    expect(await list(old.key)).toBe("200");
    await rotate(merchant, old.id, { overlapSeconds: 0 });
    system.clock.advance(5_001);
    expect(await list(old.key)).toBe("EXPIRED_API_KEY");
  });
});
