import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { type Merchant, call, cookiesOf, openMerchant, signInAgain } from "./rig/client.ts";
import { openServicesInProcess } from "./rig/services-in-process.ts";

type System = Awaited<ReturnType<typeof openServicesInProcess>>;
let system: System;
let victim: Merchant;
let thiefs: Merchant;

beforeAll(async () => {
  system = await openServicesInProcess();
  victim = await openMerchant(system, "victim");
  // The wallet to which the thief would like to be the default once.
  await as(victim.cookie, "POST", "wallets", wallet(1));
  await as(victim.cookie, "POST", "webhook-endpoints", hook);
  system.clock.advance(presenceMsMax);
  thiefs = await openMerchant(system, "thief");
});
afterAll(() => system?.close());

type Method = "GET" | "POST" | "PATCH" | "DELETE";

const as = (cookie: string, method: Method, path: string, body?: unknown) =>
  call(`${system.baseUrl}/console/api/${path}`, { method, headers: { cookie }, body });

const wallet = (index: number) => ({
  walletAddress: `0x${(0xbad + index).toString(16).padStart(40, "0")}`,
  tokenId: "usdc-base",
});
const hook = { url: "https://shop.com/hook", name: "shop" };
const key = { name: "n", scopes: ["payment_link:create"] };

const idsOf = async (path: string): Promise<string[]> => {
  const { body } = await as(victim.cookie, "GET", path);
  return (body["data"] as { id: string }[]).map(({ id }) => id);
};

const stateOf = async () => {
  const lists = ["wallets", "api-keys", "webhook-endpoints", "identities"];
  return Promise.all(lists.map(async (path) => (await as(victim.cookie, "GET", path)).body));
};

const codesOf = ({ status, body }: { status: number; body: Record<string, unknown> }): string =>
  [status, ...(body["errors"] as { code: string }[]).map(({ code }) => code)].join(" ");

// The cookie is the victim's own, copied: whatever the victim's browser may do, the thief may try.
describe("a thief with a stolen session whose person proved nothing for ten minutes (rule CALLER-19)", () => {
  test("is refused by every sensitive route, and changes nothing", async () => {
    const before = await stateOf();
    const [first = "", second = ""] = await idsOf("wallets");
    const [apiKey = ""] = await idsOf("api-keys");
    const attempts: [Method, string, unknown?][] = [
      ["POST", "wallets", { ...wallet(2), isDefault: true }],
      ["PATCH", `wallets/${second}`, { isDefault: true }],
      ["PATCH", `wallets/${first}`, { isDefault: false }],
      ["PATCH", `wallets/${second}`, { isChainDefault: true }],
      ["DELETE", `wallets/${first}`],
      ["POST", "api-keys", key],
      ["POST", `api-keys/${apiKey}/rotate`, { overlapSeconds: 0 }],
      ["PATCH", `api-keys/${apiKey}`, { active: true }],
      ["POST", "identities", { siwe: { message: "", signature: "" } }],
      ["DELETE", "identities/idn_00000000000000000000000000"],
      ["GET", "passkeys/creation"],
      ["POST", "passkeys", {}],
      ["DELETE", "passkeys/pky_00000000000000000000000000"],
      ["POST", "webhook-endpoints", { ...hook, url: "https://evil.com/hook" }],
    ];
    const sensitive = system.publicRoutes.filter(({ needsPresence }) => needsPresence === true);
    const tried = new Set(attempts.map(([method, path]) => `${method} ${path.split("/")[0]}`));
    for (const { method, path } of sensitive) {
      expect(tried).toContain(`${method.toUpperCase()} ${path.split("/")[3]}`);
    }
    for (const [method, path, body] of attempts) {
      const answer = await as(victim.cookie, method, path, body);
      expect([method, path, codesOf(answer)]).toEqual([
        method,
        path,
        "401 REAUTHENTICATION_REQUIRED",
      ]);
    }
    expect(await stateOf()).toEqual(before);
  });

  test("cannot lift it by a sign-in link of another account", async () => {
    const link = await call(`${system.internalUrl}/internal/sign-in-links`, {
      method: "POST",
      body: { handle: thiefs.handle },
    });
    const token = String(link.body["signInUrl"]).split("#token=")[1];
    const proof = await as(victim.cookie, "POST", "session/presence", { token });
    expect(codesOf(proof)).toBe("403 REAUTHENTICATION_MISMATCH");
    expect(codesOf(await as(victim.cookie, "POST", "api-keys", key))).toBe(
      "401 REAUTHENTICATION_REQUIRED",
    );
  });

  test("gets nothing of the owner's own proof, in this session or in another", async () => {
    const other = await signInAgain(system, victim);
    expect((await as(other, "POST", "api-keys", key)).status).toBe(201);
    expect(codesOf(await as(victim.cookie, "POST", "api-keys", key))).toBe(
      "401 REAUTHENTICATION_REQUIRED",
    );
    const link = await call(`${system.internalUrl}/internal/sign-in-links`, {
      method: "POST",
      body: { handle: victim.handle },
    });
    const token = String(link.body["signInUrl"]).split("#token=")[1];
    const proof = await as(victim.cookie, "POST", "session/presence", { token });
    const renewed = cookiesOf(proof);
    system.clock.advance(1_001);
    for (const path of ["api-keys", "webhook-endpoints"]) {
      const body = path === "api-keys" ? key : { ...hook, url: "https://shop.com/more" };
      expect((await as(renewed, "POST", path, body)).status).toBe(201);
      expect(codesOf(await as(victim.cookie, "POST", path, body))).toBe("401 UNAUTHENTICATED");
    }
  });
});
