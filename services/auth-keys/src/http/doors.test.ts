import { afterEach, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { createBrowser } from "../testing/browser.ts";
import { openIdentityProvider } from "../testing/identity-provider.ts";
import { type Rig, openRig, refusalOf } from "../testing/open-rig.ts";
import { makeWallet, prepareSiwe } from "../testing/siwe.ts";

const session = "/console/api/session";
const identities = "/console/api/identities";
const baseUrl = "https://console.example";

const toClose: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of toClose.splice(0).reverse()) await one.close();
});

const open = async (options: Parameters<typeof openRig>[0]): Promise<Rig> => {
  const rig = await openRig(options);
  toClose.push(rig);
  return rig;
};

const signInByEthereum = async (rig: Rig, wallet = makeWallet()) => {
  const { browser, siwe } = await prepareSiwe(rig, wallet);
  return rig.call("POST", session, { cookie: browser, body: { siwe } });
};

/** An installation with a certified provider; answers where a sign-in there ends. */
const openWithProvider = async (
  options: Parameters<typeof openRig>[0] & { allowedGroups?: readonly string[] } = {},
) => {
  const provider = await openIdentityProvider({
    redirectUri: `${baseUrl}${session}/oidc/callback`,
  });
  toClose.push(provider);
  const { allowedGroups, ...more } = options;
  const oidc = { ...provider.client, allowedGroups };
  const rig = await open({ baseUrl, oidc, now: new Date(), ...more });
  const visit = async (subject: string, groups: unknown = []) => {
    Object.assign(provider.person, { subject, groups });
    const browser = createBrowser({ origin: baseUrl, servedBy: rig.publicUrl });
    const stopBefore = ({ pathname }: URL) => pathname === "/console";
    const { url } = await browser.visit(`${session}/oidc`, { stopBefore });
    return `${url.pathname}${url.search}`;
  };
  return { rig, visit };
};

describe("SIGN_UP (rule CALLER-16)", () => {
  test("closed: opens no account for a stranger, and lets in whoever has one", async () => {
    const rig = await open({ signUp: "closed" });
    const wallet = makeWallet();
    expect(refusalOf(await signInByEthereum(rig, wallet))).toBe("403 SIGN_UP_CLOSED");
    // An operator's account links that wallet, which signs in from then on.
    const { cookie, userId } = await rig.signUp();
    const { browser, siwe } = await prepareSiwe(rig, wallet, cookie);
    const both = `${cookie}; ${browser}`;
    const linked = await rig.call("POST", identities, { cookie: both, body: { siwe } });
    expect(linked.status).toBe(201);
    const signedIn = await signInByEthereum(rig, wallet);
    expect([signedIn.status, signedIn.body["id"]]).toEqual([200, userId]);
  });

  test("closed: sends a stranger of the identity provider back with the reason", async () => {
    const { visit } = await openWithProvider({ signUp: "closed" });
    expect(await visit("stranger")).toBe("/console?error=SIGN_UP_CLOSED");
  });

  test("oidc: opens accounts for people of the identity provider, and for no wallet", async () => {
    const { rig, visit } = await openWithProvider({ signUp: "oidc" });
    expect(await visit("employee")).toBe("/console");
    const wallet = makeWallet();
    const nonce = await rig.call("GET", `${session}/nonce?address=${wallet.address}`);
    const message = String(nonce.body["message"]);
    const signature = await wallet.signMessage({ message });
    const cookie = nonce.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    const body = { siwe: { message, signature } };
    const refused = await rig.call("POST", session, { cookie, body });
    expect(refusalOf(refused)).toBe("403 SIGN_UP_CLOSED");
  });
});

describe("SIGN_IN_METHODS (rule CALLER-16)", () => {
  const unavailable = "404 SIGN_IN_METHOD_UNAVAILABLE";

  test("without siwe: no nonce, no session and no link to an account by a wallet", async () => {
    const rig = await open({ signInMethods: ["link"] });
    const body = { siwe: { message: "m", signature: "s" } };
    const { cookie } = await rig.signUp();
    expect(refusalOf(await rig.call("GET", `${session}/nonce`))).toBe(unavailable);
    expect(refusalOf(await rig.call("POST", session, { body }))).toBe(unavailable);
    expect(refusalOf(await rig.call("POST", identities, { cookie, body }))).toBe(unavailable);
    const { body: told } = await rig.call("GET", `${session}/methods`);
    expect(told).toEqual({ methods: ["link"] });
  });

  test("without link: no link is made, asked about or redeemed", async () => {
    const rig = await open({ signInMethods: ["siwe"] });
    const made = await rig.call("POST", "/internal/accounts", { body: { username: "Alice" } });
    expect([made.status, made.body["signInUrl"]]).toEqual([201, null]);
    const whom = { userId: made.body["userId"] };
    const link = await rig.call("POST", "/internal/sign-in-links", { body: whom });
    expect(refusalOf(link)).toBe(unavailable);
    const body = { token: "A".repeat(43) };
    for (const path of [session, `${session}/link`]) {
      expect(refusalOf(await rig.call("POST", path, { body }))).toBe(unavailable);
    }
    expect((await rig.call("POST", `${session}/form`, { body: "" })).status).toBe(404);
    expect((await signInByEthereum(rig)).status).toBe(200);
  });

  test("without oidc: nobody is sent to the identity provider, though it is set up", async () => {
    const { rig, visit } = await openWithProvider({ signInMethods: ["link"] });
    expect(await visit("employee")).toBe("/console?error=SIGN_IN_METHOD_UNAVAILABLE");
    const { body: told } = await rig.call("GET", `${session}/methods`);
    expect(told).toEqual({ methods: ["link"] });
  });
});

describe("OIDC_ALLOWED_GROUPS (rule CALLER-16)", () => {
  const refused = "/console?error=OIDC_SIGN_IN_REFUSED";

  test("lets in members of one of the groups, and nobody else, each time anew", async () => {
    const { visit } = await openWithProvider({ allowedGroups: ["payments", "finance team"] });
    expect(await visit("ada", ["staff", "finance team"])).toBe("/console");
    expect(await visit("ada", "payments")).toBe("/console");
    for (const groups of [["staff"], [], "payment", ["payments "], [["payments"]], undefined, {}]) {
      expect(await visit("ada", groups)).toBe(refused);
    }
  });

  test("whoever has left the group is refused, and the account's log has it", async () => {
    const { rig, visit } = await openWithProvider({ allowedGroups: ["payments"] });
    expect(await visit("ada", "payments")).toBe("/console");
    expect(await visit("ada", "staff")).toBe(refused);
    await rig.service.stop();
    const [known] = await rig.pool.any(sql.type(z.object({ accountId: z.string() }))`
      SELECT account_id AS "accountId" FROM identities WHERE subject = 'ada'
    `);
    const actions = await rig.readAudit(known?.accountId ?? "");
    expect(actions.filter((action) => action === "session.refused")).toHaveLength(1);
  });
});
