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
  "GET /passkeys": list(),
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
    expect(tab.text()).toContain("Link your company account");
    await tab.click("Unlink");
    expect(tab.calls.map(({ call }) => call)).toContain("DELETE /identities/idn_1");
    // Signing out ends the session in use, so only the other one has a button.
    expect(tab.text()).toMatch(/Ethereum, since .* \(here\)Sign-in link, since .*End/);
    await tab.click("End");
    expect(tab.calls.map(({ call }) => call)).toContain("DELETE /sessions/sess_2");
  });

  test("shows which wallet becomes the default and when, and takes that back", async () => {
    const token = { symbol: "USDC", chain: { name: "Base" } };
    const wallet = (id: string, more: object) => ({
      id,
      walletAddress: `0x${id}`,
      token: { token },
      isDefault: false,
      defaultAt: null,
      ...more,
    });
    const defaultAt = "2026-11-22T10:00:00.000Z";
    const wallets = list(
      wallet("1", { isDefault: true }),
      wallet("2", { defaultAt }),
      wallet("3", {}),
    );
    const answers = { "GET /wallets": wallets, "PATCH /wallets/2": {}, "PATCH /wallets/3": {} };
    const tab = await openConsoleTab({ answers: { ...somebody, ...answers } });
    expect(tab.text()).toContain("0x1 USDC on Base (default)0x2");
    const time = new Date(defaultAt).toLocaleString();
    expect(tab.text()).toContain(`0x2 USDC on Base (default from ${time} on)`);
    await tab.click("Cancel this change");
    await tab.click("Make default");
    const sent = tab.calls.filter(({ call }) => call.startsWith("PATCH"));
    expect(sent).toEqual([
      { call: "PATCH /wallets/2", body: { isDefault: false } },
      { call: "PATCH /wallets/3", body: { isDefault: true } },
    ]);
  });

  test("who came back from a failed linking is told of it, and stays signed in", async () => {
    const tab = await openConsoleTab({ answers: somebody, search: "?error=IDENTITY_TAKEN" });
    expect(tab.notice()).toBe("That company account signs in to another account here.");
    expect(tab.text()).toContain("Where you are signed in");
  });
});

describe("a call that needs a fresh proof of presence", () => {
  const message = "Prove once more that it is you, then try again.";
  const stale = (...methods: string[]) => {
    const code = "REAUTHENTICATION_REQUIRED";
    return { status: 401, body: { errors: [{ code, message, methods }] } };
  };
  type Answers = Parameters<typeof openConsoleTab>[0]["answers"];
  const addKey = async (...methods: string[]) => {
    const answers: Answers = { ...somebody, "POST /api-keys": stale(...methods) };
    const tab = await openConsoleTab({ answers, wallet: () => [address] });
    tab.type("name", "shop");
    const ended = tab.click("Create API key");
    await settled();
    const keyCalls = () => tab.calls.filter(({ call }) => call === "POST /api-keys");
    const prove = () => {
      answers["POST /session/presence"] = { status: 204 };
      answers["POST /api-keys"] = { body: { key: "plk_live_new" } };
    };
    return { answers, tab, ended, keyCalls, prove };
  };

  test("asks by the account's own ways, and makes the call again after the proof", async () => {
    const { tab, ended, keyCalls, prove } = await addKey("link");
    expect(tab.notice()).toBe("Is it still you?");
    expect(tab.text()).toContain("Prove by the link");
    expect(tab.text()).not.toContain("Prove by Ethereum");
    prove();
    tab.type("link", "https://pay.example/console/sign-in#token=fresh");
    await tab.click("Prove by the link");
    await ended;
    const sent = tab.calls.find(({ call }) => call === "POST /session/presence");
    expect(sent?.body).toEqual({ token: "fresh" });
    expect(keyCalls()).toHaveLength(2);
    expect(keyCalls()[1]?.body).toEqual(keyCalls()[0]?.body);
    expect(tab.text()).toContain("plk_live_new");
    expect(tab.text()).not.toContain("Is it still you?");
  });

  test("goes on when another tab says that the provider's sign-in has proven it", async () => {
    const { tab, ended, keyCalls, prove } = await addKey("oidc");
    expect(tab.links()).toEqual(["/console/api/session/oidc?prove=true"]);
    prove();
    tab.hear();
    await ended;
    expect(keyCalls()).toHaveLength(2);
  });

  test("changes nothing for a person who would rather not", async () => {
    const { tab, ended, keyCalls } = await addKey("link", "siwe");
    await tab.click("Not now");
    await ended;
    expect(tab.notice()).toBe("Nothing was changed.");
    expect(keyCalls()).toHaveLength(1);
  });

  test("after a proof that was refused can be proven again", async () => {
    const { answers, tab, ended, prove } = await addKey("link");
    const text = "This proves somebody else than who is signed in.";
    const errors = [{ code: "REAUTHENTICATION_MISMATCH", message: text }];
    answers["POST /session/presence"] = { status: 403, body: { errors } };
    await tab.click("Prove by the link");
    expect(tab.notice()).toBe(text);
    prove();
    await tab.click("Prove by the link");
    await ended;
    expect(tab.text()).toContain("plk_live_new");
  });

  test("tells the tab that waits, where a tab comes back from the provider", async () => {
    const tab = await openConsoleTab({ answers: somebody, search: "?presence=proven" });
    expect(tab.said).toEqual(["presence proven"]);
    expect(tab.addresses).toEqual(["/console"]);
    expect(tab.notice()).toContain("Go on in the other tab");
  });

  test("that leads to the provider goes there once it may", async () => {
    const path = "GET /session/oidc?link=true";
    const answers: Answers = { ...somebody, [path]: stale("link") };
    const tab = await openConsoleTab({ answers });
    const ended = tab.click("Link your company account");
    await settled();
    expect(tab.addresses).toEqual([]);
    answers[path] = { status: 0, type: "opaqueredirect" };
    tab.hear();
    await ended;
    expect(tab.addresses).toEqual(["/console/api/session/oidc?link=true"]);
  });
});

/** Lets everything run that only waits for its turn. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

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

describe("the API keys in the console", () => {
  type Answers = Parameters<typeof openConsoleTab>[0]["answers"];
  const key = {
    id: "key_1",
    name: "shop",
    prefix: "plk_live_abcd",
    scopes: ["payment_link:read"],
    cidrs: null,
    requestsPerMinute: null,
    burst: null,
    active: true,
    lastUsedAt: null,
    lastUsedAddress: null,
  };

  test("say when and from where they were last used, from where they may be, and how fast", async () => {
    const used = { lastUsedAt: "2026-11-21T10:00:00.000Z", lastUsedAddress: "203.0.113.9" };
    const narrow = { cidrs: ["203.0.113.0/24", "2001:db8::1"], requestsPerMinute: 60, burst: 5 };
    const keys = [{ ...key, ...used, ...narrow }, { ...key, burst: 7 }, key];
    const tab = await openConsoleTab({ answers: { ...somebody, "GET /api-keys": list(...keys) } });
    const text = tab.text();
    expect(text).toMatch(/last used [^·]*2026[^·]* from 203\.0\.113\.9 ·/);
    expect(text).toContain("only from 203.0.113.0/24, 2001:db8::1");
    expect(text).toContain("at most 60 requests a minute, 5 at once");
    expect(text).toContain("at most 7 at once");
    expect(text).toContain("never used");
  });

  test("are made with the addresses and the limit that were typed, and without what was not", async () => {
    const answers: Answers = { ...somebody, "POST /api-keys": { body: { key: "plk_live_new" } } };
    const tab = await openConsoleTab({ answers });
    tab.type("name", "shop");
    tab.type("cidrs", " 203.0.113.0/24,2001:db8::1  10.0.0.1 ");
    tab.type("burst", "5");
    await tab.click("Create API key");
    tab.type("name", "plain");
    await tab.click("Create API key");
    const scopes = ["payment_link:create", "payment_link:read"];
    const made = tab.calls.filter(({ call }) => call === "POST /api-keys");
    expect(made.map(({ body }) => body)).toEqual([
      { name: "shop", scopes, cidrs: ["203.0.113.0/24", "2001:db8::1", "10.0.0.1"], burst: 5 },
      { name: "plain", scopes },
    ]);
  });

  test("change their limit, and an empty field takes it away", async () => {
    const answers: Answers = {
      ...somebody,
      "GET /api-keys": list({ ...key, requestsPerMinute: 60, burst: 5 }),
      "PATCH /api-keys/key_1": { body: {} },
    };
    const tab = await openConsoleTab({ answers });
    tab.type("requestsPerMinute", "30");
    await tab.click("Change limit");
    expect(tab.calls).toContainEqual({
      call: "PATCH /api-keys/key_1",
      body: { requestsPerMinute: 30, burst: null },
    });
  });
});
