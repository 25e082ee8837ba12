import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { type Merchant, call, getCookies, createMerchant, signInAgain } from "./rig/client.ts";
import { startServicesInProcess } from "./rig/services-in-process.ts";

type System = Awaited<ReturnType<typeof startServicesInProcess>>;
let system: System;
let victim: Merchant;
let attacker: Merchant;

beforeAll(async () => {
  system = await startServicesInProcess();
  victim = await createMerchant(system, "victim");
  // The wallet that the attacker would like to make the default.
  await callConsole(victim.cookie, "POST", "wallets", createWalletBody(1));
  await callConsole(victim.cookie, "POST", "webhook-endpoints", endpointBody);
  system.clock.advance(presenceMsMax);
  attacker = await createMerchant(system, "thief");
});
afterAll(() => system?.close());

type Method = "GET" | "POST" | "PATCH" | "DELETE";

const callConsole = (cookie: string, method: Method, path: string, body?: unknown) =>
  call(`${system.baseUrl}/console/api/${path}`, { method, headers: { cookie }, body });

const createWalletBody = (index: number) => ({
  walletAddress: `0x${(0xbad + index).toString(16).padStart(40, "0")}`,
  tokenId: "usdc-base",
});
const endpointBody = { url: "https://shop.com/hook", name: "shop" };
const keyBody = { name: "n", scopes: ["payment_link:create"] };

const listIds = async (path: string): Promise<string[]> => {
  const { body } = await callConsole(victim.cookie, "GET", path);
  return (body["data"] as { id: string }[]).map(({ id }) => id);
};

const readState = async () => {
  const paths = ["wallets", "api-keys", "webhook-endpoints", "identities", "account/notifications"];
  return Promise.all(
    paths.map(async (path) => (await callConsole(victim.cookie, "GET", path)).body),
  );
};

const summarizeResponse = ({
  status,
  body,
}: {
  status: number;
  body: Record<string, unknown>;
}): string => [status, ...(body["errors"] as { code: string }[]).map(({ code }) => code)].join(" ");

// The cookie is a copy of the victim's cookie, so the attacker can try everything that the victim's
// browser can do.
describe("an attacker with a stolen session without proof of presence for 10 minutes (rule CALLER-19)", () => {
  test("is rejected by every sensitive route, and changes nothing", async () => {
    const stateBefore = await readState();
    const [firstWalletId = "", secondWalletId = ""] = await listIds("wallets");
    const [apiKeyId = ""] = await listIds("api-keys");
    const attempts: [Method, string, unknown?][] = [
      ["POST", "wallets", { ...createWalletBody(2), isDefault: true }],
      ["PATCH", `wallets/${secondWalletId}`, { isDefault: true }],
      ["PATCH", `wallets/${firstWalletId}`, { isDefault: false }],
      ["PATCH", `wallets/${secondWalletId}`, { isChainDefault: true }],
      ["DELETE", `wallets/${firstWalletId}`],
      ["POST", "api-keys", keyBody],
      ["POST", `api-keys/${apiKeyId}/rotate`, { overlapSeconds: 0 }],
      ["POST", "api-keys/sign-ins/BCDF-GHJK/allow", { scopes: ["payment_link:read"] }],
      ["PATCH", `api-keys/${apiKeyId}`, { active: true }],
      ["POST", "identities", { siwe: { message: "", signature: "" } }],
      ["DELETE", "identities/idn_00000000000000000000000000"],
      ["GET", "passkeys/creation"],
      ["POST", "passkeys", {}],
      ["DELETE", "passkeys/pky_00000000000000000000000000"],
      ["POST", "webhook-endpoints", { ...endpointBody, url: "https://evil.com/hook" }],
      ["POST", "account/notifications/address", { address: "thief@evil.com" }],
      ["DELETE", "account/notifications/address"],
    ];
    const sensitiveRoutes = system.publicRoutes.filter(
      ({ needsPresence }) => needsPresence === true,
    );
    const untriedRoutes = sensitiveRoutes.filter((route) => {
      const path = new RegExp(`^${route.path.replaceAll(/:\w+/g, "[^/]+")}$`);
      return !attempts.some(
        ([method, triedPath]) =>
          method === route.method.toUpperCase() && path.test(`/console/api/${triedPath}`),
      );
    });
    expect(untriedRoutes.map(({ method, path }) => [method, path])).toEqual([]);
    for (const [method, path, body] of attempts) {
      const response = await callConsole(victim.cookie, method, path, body);
      expect([method, path, summarizeResponse(response)]).toEqual([
        method,
        path,
        "401 REAUTHENTICATION_REQUIRED",
      ]);
    }
    expect(await readState()).toEqual(stateBefore);
  });

  test("cannot prove presence with a sign-in link of another account", async () => {
    const signInLinkResponse = await call(`${system.internalUrl}/internal/sign-in-links`, {
      method: "POST",
      body: { handle: attacker.handle },
    });
    const token = String(signInLinkResponse.body["signInUrl"]).split("#token=")[1];
    const presenceResponse = await callConsole(victim.cookie, "POST", "session/presence", {
      token,
    });
    expect(summarizeResponse(presenceResponse)).toBe("403 REAUTHENTICATION_MISMATCH");
    expect(summarizeResponse(await callConsole(victim.cookie, "POST", "api-keys", keyBody))).toBe(
      "401 REAUTHENTICATION_REQUIRED",
    );
  });

  test("gains nothing from the owner's own proof of presence, in this session or in another", async () => {
    const otherCookie = await signInAgain(system, victim);
    expect((await callConsole(otherCookie, "POST", "api-keys", keyBody)).status).toBe(201);
    expect(summarizeResponse(await callConsole(victim.cookie, "POST", "api-keys", keyBody))).toBe(
      "401 REAUTHENTICATION_REQUIRED",
    );
    const signInLinkResponse = await call(`${system.internalUrl}/internal/sign-in-links`, {
      method: "POST",
      body: { handle: victim.handle },
    });
    const token = String(signInLinkResponse.body["signInUrl"]).split("#token=")[1];
    const presenceResponse = await callConsole(victim.cookie, "POST", "session/presence", {
      token,
    });
    const renewedCookie = getCookies(presenceResponse);
    system.clock.advance(1_001);
    for (const path of ["api-keys", "webhook-endpoints"]) {
      const body =
        path === "api-keys" ? keyBody : { ...endpointBody, url: "https://shop.com/more" };
      expect((await callConsole(renewedCookie, "POST", path, body)).status).toBe(201);
      expect(summarizeResponse(await callConsole(victim.cookie, "POST", path, body))).toBe(
        "401 UNAUTHENTICATED",
      );
    }
  });
});
