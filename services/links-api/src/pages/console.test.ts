import { describe, expect, test } from "@jest/globals";
import { openConsoleTab } from "../testing/console-tab.ts";

const signedOut = {
  status: 401,
  body: { errors: [{ code: "UNAUTHENTICATED", message: "Authentication is required." }] },
};
const methods = (...names: string[]) => ({ body: { methods: names } });
const nobody = {
  "GET /session": signedOut,
  "GET /session/methods": methods("link", "siwe", "oidc"),
};

const address = "0xa0cf798816d4b9b9866b5330eea46a18382f251e";
const message = "pay.example wants you to sign in — é";

const list = (...data: object[]) => ({ body: { data } });
const somebody = {
  "GET /session": { body: { username: "Ada", handle: null } },
  "GET /session/methods": methods("link", "siwe", "oidc"),
  "GET /wallets": list(),
  "GET /tokens": list(),
  "GET /api-keys": list(),
  "GET /identities": list({
    id: "idn_1",
    method: "oidc",
    issuer: "https://id.example",
    subject: "s",
  }),
  "GET /sessions": list(
    { id: "sess_1", method: "siwe", dateCreated: 0, lastSeenAt: 0, isCurrent: true },
    { id: "sess_2", method: "link", dateCreated: 0, lastSeenAt: 0, isCurrent: false },
  ),
};

describe("the console of nobody", () => {
  test("offers the ways to sign in that there are", async () => {
    const tab = await openConsoleTab({ answers: nobody });
    expect(tab.notice()).toBe("You are not signed in.");
    expect(tab.text()).toContain("Sign in with Ethereum");
    expect(tab.links()).toEqual(["/console/api/session/oidc"]);
    const answers = { ...nobody, "GET /session/methods": methods("link") };
    const plain = await openConsoleTab({ answers });
    expect(plain.text()).toBe("Sign inOr ask your operator for a sign-in link.");
  });

  test("has the wallet sign the server's message, byte by byte, and signs in by it", async () => {
    const asked: object[] = [];
    const answers: Parameters<typeof openConsoleTab>[0]["answers"] = {
      ...nobody,
      [`GET /session/nonce?address=${address}`]: { body: { nonce: "n", message } },
      "POST /session": { body: {} },
    };
    const tab = await openConsoleTab({
      answers,
      wallet: (request) => {
        asked.push(request);
        return request.method === "eth_requestAccounts" ? [address] : "0xsigned";
      },
    });
    Object.assign(answers, somebody);
    await tab.click("Sign in with Ethereum");
    expect(asked[1]).toEqual({
      method: "personal_sign",
      params: [`0x${Buffer.from(message).toString("hex")}`, address],
    });
    const sent = tab.calls.find(({ call }) => call === "POST /session");
    expect(sent?.body).toEqual({ siwe: { message, signature: "0xsigned" } });
    expect(tab.notice()).toBe("Signed in as Ada.");
  });

  test("without a wallet, or with one that does not sign, says so", async () => {
    const without = await openConsoleTab({ answers: nobody });
    await without.click("Sign in with Ethereum");
    expect(without.notice()).toBe("There is no Ethereum wallet in this browser.");
    const refusing = await openConsoleTab({
      answers: nobody,
      wallet: () => {
        throw new Error("rejected");
      },
    });
    await refusing.click("Sign in with Ethereum");
    expect(refusing.notice()).toBe("The wallet did not sign.");
  });

  test.each([
    ["OIDC_ISSUER_UNAVAILABLE", "Your company's sign-in does not answer right now."],
    ["<img src=x>", "Signing in did not succeed."],
    ["constructor", "Signing in did not succeed."],
  ])("come back to with ?error=%s, says what it means, and once", async (code, text) => {
    const search = `?error=${encodeURIComponent(code)}`;
    const tab = await openConsoleTab({ answers: nobody, search });
    expect(tab.notice()).toContain(text);
    expect(tab.addresses).toEqual(["/console"]);
  });
});

describe("the console of somebody", () => {
  test("shows the ways to sign in and the sessions, and takes each away", async () => {
    const tab = await openConsoleTab({ answers: somebody });
    expect(tab.text()).toContain("https://id.example s");
    expect(tab.links()).toContain("/console/api/session/oidc?link=true");
    await tab.click("Unlink");
    expect(tab.calls.map(({ call }) => call)).toContain("DELETE /identities/idn_1");
    // Signing out ends the session in use, so only the other one has a button.
    expect(tab.text()).toMatch(/Ethereum, since .* \(here\)Sign-in link, since .*End/);
    await tab.click("End");
    expect(tab.calls.map(({ call }) => call)).toContain("DELETE /sessions/sess_2");
  });

  test("who came back from a failed linking is told of it, and stays signed in", async () => {
    const tab = await openConsoleTab({ answers: somebody, search: "?error=IDENTITY_TAKEN" });
    expect(tab.notice()).toBe("That company account signs in to another account here.");
    expect(tab.text()).toContain("Where you are signed in");
  });
});

describe("a sign-in link opened in a browser", () => {
  const hash = "#token=secret";
  const link = { "POST /session/link": { body: { username: "Ada", handle: "ada" } } };
  const callsOf = (tab: { calls: { call: string }[] }) => tab.calls.map(({ call }) => call);

  test("says whose it is and waits: nobody is signed in by opening it", async () => {
    const tab = await openConsoleTab({ answers: { ...nobody, ...link }, hash });
    expect(tab.text()).toContain("This link signs you in as Ada (@ada).");
    expect(tab.addresses).toEqual(["/console"]);
    expect(callsOf(tab)).toEqual(["POST /session/link", "GET /session"]);
    expect(tab.calls[0]?.body).toEqual({ token: "secret" });
  });

  test("signs in by a click", async () => {
    const answers: Parameters<typeof openConsoleTab>[0]["answers"] = { ...nobody, ...link };
    const tab = await openConsoleTab({ answers, hash });
    Object.assign(answers, somebody, { "POST /session": { body: {} } });
    await tab.click("Sign in as Ada");
    const sent = tab.calls.find(({ call }) => call === "POST /session");
    expect(sent?.body).toEqual({ token: "secret" });
    expect(tab.notice()).toBe("Signed in as Ada.");
  });

  test("asks who is signed in before it signs them out, and lets them stay", async () => {
    const other = { body: { username: "Bob", handle: null } };
    const answers = { ...somebody, ...link, "GET /session": other };
    const tab = await openConsoleTab({ answers, hash });
    expect(tab.text()).toContain("You are signed in as Bob. Signing in as Ada signs Bob out.");
    await tab.click("Stay signed in as Bob");
    expect(callsOf(tab)).not.toContain("POST /session");
    expect(tab.notice()).toBe("Signed in as Bob.");
  });

  test("that is used or made up is told to be so", async () => {
    const message = "The sign-in link is not valid or has been used.";
    const refused = { status: 401, body: { errors: [{ code: "INVALID_SIGN_IN_TOKEN", message }] } };
    const tab = await openConsoleTab({
      answers: { ...nobody, "POST /session/link": refused },
      hash,
    });
    expect(tab.notice()).toBe(message);
    expect(tab.text()).toContain("Sign in with Ethereum");
  });
});
