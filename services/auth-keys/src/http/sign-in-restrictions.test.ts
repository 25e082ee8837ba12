import { afterEach, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { createBrowser } from "../testing/browser.ts";
import { startIdentityProvider } from "../testing/identity-provider.ts";
import { type Rig, createRig, summarizeResponse } from "../testing/create-rig.ts";
import { createWallet, prepareSiwe } from "../testing/siwe.ts";

const session = "/console/api/session";
const identities = "/console/api/identities";
const baseUrl = "https://console.example";

const cleanups: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup.close();
});

const startRig = async (options: Parameters<typeof createRig>[0]): Promise<Rig> => {
  const rig = await createRig(options);
  cleanups.push(rig);
  return rig;
};

const signInWithEthereum = async (rig: Rig, wallet = createWallet()) => {
  const { browserCookie, siwe } = await prepareSiwe(rig, wallet);
  return rig.call("POST", session, { cookie: browserCookie, body: { siwe } });
};

/**
 * Starts an installation with a certified provider, and a function that signs in there and returns
 * the final URL.
 */
const startWithProvider = async (
  options: Parameters<typeof createRig>[0] & { allowedGroups?: readonly string[] } = {},
) => {
  const provider = await startIdentityProvider({
    redirectUri: `${baseUrl}${session}/oidc/callback`,
  });
  cleanups.push(provider);
  const { allowedGroups, ...rigOptions } = options;
  const oidc = { ...provider.client, allowedGroups };
  const rig = await startRig({ baseUrl, oidc, now: new Date(), ...rigOptions });
  const signInAs = async (subject: string, groups: unknown = []) => {
    Object.assign(provider.user, { subject, groups });
    const browser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    const stopBefore = ({ pathname }: URL) => pathname === "/console";
    const { url } = await browser.visit(`${session}/oidc`, { stopBefore });
    return `${url.pathname}${url.search}`;
  };
  return { rig, signInAs };
};

describe("SIGN_UP (rule CALLER-16)", () => {
  test("closed: does not create an account for an unknown user, but signs in existing users", async () => {
    const rig = await startRig({ signUp: "closed" });
    const wallet = createWallet();
    expect(summarizeResponse(await signInWithEthereum(rig, wallet))).toBe("403 SIGN_UP_CLOSED");
    // A user of an operator's account links that wallet, which can sign in from then on.
    const { cookie, userId } = await rig.signUp();
    const { browserCookie, siwe } = await prepareSiwe(rig, wallet, cookie);
    const cookies = `${cookie}; ${browserCookie}`;
    const linkResponse = await rig.call("POST", identities, { cookie: cookies, body: { siwe } });
    expect(linkResponse.status).toBe(201);
    const signInResponse = await signInWithEthereum(rig, wallet);
    expect([signInResponse.status, signInResponse.body["id"]]).toEqual([200, userId]);
  });

  test("closed: redirects an unknown user of the identity provider back with the reason", async () => {
    const { signInAs } = await startWithProvider({ signUp: "closed" });
    expect(await signInAs("stranger")).toBe("/console?error=SIGN_UP_CLOSED");
  });

  test("oidc: creates accounts for users of the identity provider, but not for wallets", async () => {
    const { rig, signInAs } = await startWithProvider({ signUp: "oidc" });
    expect(await signInAs("employee")).toBe("/console");
    const wallet = createWallet();
    const nonce = await rig.call("GET", `${session}/nonce?address=${wallet.address}`);
    const message = String(nonce.body["message"]);
    const signature = await wallet.signMessage({ message });
    const cookie = nonce.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    const body = { siwe: { message, signature } };
    const rejected = await rig.call("POST", session, { cookie, body });
    expect(summarizeResponse(rejected)).toBe("403 SIGN_UP_CLOSED");
  });
});

describe("SIGN_IN_METHODS (rule CALLER-16)", () => {
  const methodUnavailable = "404 SIGN_IN_METHOD_UNAVAILABLE";

  test("without siwe: wallets do not get a nonce or a session, and cannot be linked", async () => {
    const rig = await startRig({ signInMethods: ["link"] });
    const body = { siwe: { message: "m", signature: "s" } };
    const { cookie } = await rig.signUp();
    expect(summarizeResponse(await rig.call("GET", `${session}/nonce`))).toBe(methodUnavailable);
    expect(summarizeResponse(await rig.call("POST", session, { body }))).toBe(methodUnavailable);
    expect(summarizeResponse(await rig.call("POST", identities, { cookie, body }))).toBe(
      methodUnavailable,
    );
    const { body: methodsBody } = await rig.call("GET", `${session}/methods`);
    expect(methodsBody).toEqual({ methods: ["link"] });
  });

  test("without link: links cannot be created, looked up or redeemed", async () => {
    const rig = await startRig({ signInMethods: ["siwe"] });
    const createResponse = await rig.call("POST", "/internal/accounts", {
      body: { username: "Alice" },
    });
    expect([createResponse.status, createResponse.body["signInUrl"]]).toEqual([201, null]);
    const selector = { userId: createResponse.body["userId"] };
    const link = await rig.call("POST", "/internal/sign-in-links", { body: selector });
    expect(summarizeResponse(link)).toBe(methodUnavailable);
    const body = { token: "A".repeat(43) };
    for (const path of [session, `${session}/link`]) {
      expect(summarizeResponse(await rig.call("POST", path, { body }))).toBe(methodUnavailable);
    }
    expect((await rig.call("POST", `${session}/form`, { body: "" })).status).toBe(404);
    expect((await signInWithEthereum(rig)).status).toBe(200);
  });

  test("without oidc: does not redirect to the identity provider, although it is configured", async () => {
    const { rig, signInAs } = await startWithProvider({ signInMethods: ["link"] });
    expect(await signInAs("employee")).toBe("/console?error=SIGN_IN_METHOD_UNAVAILABLE");
    const { body: methodsBody } = await rig.call("GET", `${session}/methods`);
    expect(methodsBody).toEqual({ methods: ["link"] });
  });
});

describe("OIDC_ALLOWED_GROUPS (rule CALLER-16)", () => {
  const rejectedUrl = "/console?error=OIDC_SIGN_IN_REFUSED";

  test("allows only members of one of the groups, checked at every sign-in", async () => {
    const { signInAs } = await startWithProvider({ allowedGroups: ["payments", "finance team"] });
    expect(await signInAs("ada", ["staff", "finance team"])).toBe("/console");
    expect(await signInAs("ada", "payments")).toBe("/console");
    for (const groups of [["staff"], [], "payment", ["payments "], [["payments"]], undefined, {}]) {
      expect(await signInAs("ada", groups)).toBe(rejectedUrl);
    }
  });

  test("rejects a user who left the group, and logs it for the account", async () => {
    const { rig, signInAs } = await startWithProvider({ allowedGroups: ["payments"] });
    expect(await signInAs("ada", "payments")).toBe("/console");
    expect(await signInAs("ada", "staff")).toBe(rejectedUrl);
    await rig.service.stop();
    const [identityRow] = await rig.pool.any(sql.type(z.object({ accountId: z.string() }))`
      SELECT account_id AS "accountId" FROM identities WHERE subject = 'ada'
    `);
    const actions = await rig.readAudit(identityRow?.accountId ?? "");
    expect(actions.filter((action) => action === "session.refused")).toHaveLength(1);
  });
});
