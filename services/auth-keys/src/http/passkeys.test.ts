import { describe, expect, test } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { challengeLifeMs, passkeysMax } from "../domain/passkey.ts";
import {
  type Authenticator,
  certifiedStatement,
  makeAuthenticator,
} from "../testing/authenticator.ts";
import { cookieOf, openRig, refusalOf } from "../testing/open-rig.ts";
import { askNonce, makeWallet, signSiwe, siweMessage } from "../testing/siwe.ts";

const origin = "https://console.example";
const site = { origin, rpId: "console.example" };
const sessionPath = "/console/api/session";
const path = "/console/api/passkeys";
const refused = "401 INVALID_PASSKEY";

const rig = useRig(() => openRig({ baseUrl: origin }));

/** Asks for a challenge as a browser does, which keeps the cookie that it is given. */
const ask = async (at: string, cookie = "") => {
  const answer = await rig.call("GET", at, { cookie });
  expect(answer.status).toBe(200);
  const browser = cookieOf(answer.headers);
  return { challenge: String(answer.body["challenge"]), cookie: `${cookie}; ${browser}` };
};

const add = async (cookie: string, authenticator: Authenticator, name = "key") => {
  const asked = await ask(`${path}/creation`, cookie);
  const body = { name, passkey: authenticator.make(asked) };
  return rig.call("POST", path, { cookie: asked.cookie, body });
};

/** Somebody with one passkey. */
const openOwner = async () => {
  const person = await rig.signUp();
  const authenticator = makeAuthenticator(site);
  const { status, body } = await add(person.cookie, authenticator);
  expect(status).toBe(201);
  return { ...person, authenticator, id: String(body["id"]) };
};

type Said = Partial<Parameters<Authenticator["sign"]>[0]>;

const signIn = async (authenticator: Authenticator, said: Said = {}) => {
  const { challenge, cookie } = await ask(`${sessionPath}/passkey`);
  const passkey = authenticator.sign({ challenge, ...said });
  return rig.call("POST", sessionPath, { cookie, body: { passkey } });
};

const listed = async (cookie: string) => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as { id: string; name: string; lastUsedAt: string | null }[];
};

describe("a passkey (rule CALLER-21)", () => {
  test("signs in to the account that added it, without a name, and is written down", async () => {
    const { userId, cookie, authenticator, id } = await openOwner();
    expect(await listed(cookie)).toEqual([
      { id, name: "key", dateCreated: rig.clock.now().toISOString(), lastUsedAt: null },
    ]);
    // Sessions of one instant stand in any order.
    rig.clock.advance(1);
    const answer = await signIn(authenticator);
    expect([answer.status, answer.body["id"]]).toEqual([200, userId]);
    const session = cookieOf(answer.headers);
    expect((await listed(session))[0]?.lastUsedAt).toBe(rig.clock.now().toISOString());
    const { body } = await rig.call("GET", "/console/api/sessions", { cookie: session });
    expect(body["data"]).toMatchObject([{ method: "passkey", isCurrent: true }, {}]);
    expect(await rig.readAudit(userId)).toContain("passkey.added");
  });

  test("is asked for with the person verified, and made to be found without a name", async () => {
    const { userId, cookie, authenticator } = await openOwner();
    const request = await rig.call("GET", `${sessionPath}/passkey`);
    expect(request.body).toEqual({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rpId: site.rpId,
      timeout: challengeLifeMs,
      userVerification: "required",
    });
    const { body } = await rig.call("GET", `${path}/creation`, { cookie });
    const { id } = authenticator.sign({ challenge: "" });
    expect(body).toMatchObject({
      rp: { id: site.rpId },
      user: { id: Buffer.from(userId).toString("base64url") },
      excludeCredentials: [{ type: "public-key", id }],
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    });
  });

  test.each<[string, Said]>([
    ["for another site", { origin: "https://console.example.evil.example" }],
    ["for another port of ours", { origin: "https://console.example:8443" }],
    ["for another name of ours", { rpId: "example" }],
    ["inside another site's frame", { crossOrigin: true }],
    ["without the person verified", { isVerified: false }],
    ["to make a key and not to sign in", { type: "webauthn.create" }],
    ["for a challenge that nobody gave", { challenge: "A".repeat(43) }],
    ["under another account's handle", { userHandle: Buffer.from("user_1").toString("base64url") }],
  ])("that answers %s is refused", async (_name, said) => {
    const { authenticator } = await openOwner();
    const answer = await signIn(authenticator, said);
    expect(refusalOf(answer)).toBe(refused);
    expect(answer.headers.get("set-cookie")).toBeNull();
  });

  test("that nobody added is refused, and so is another key's signature", async () => {
    const { authenticator } = await openOwner();
    const stranger = makeAuthenticator(site);
    expect(refusalOf(await signIn(stranger))).toBe(refused);
    const { challenge, cookie } = await ask(`${sessionPath}/passkey`);
    const { id } = authenticator.sign({ challenge });
    const passkey = { ...stranger.sign({ challenge }), id };
    const answer = await rig.call("POST", sessionPath, { cookie, body: { passkey } });
    expect(refusalOf(answer)).toBe(refused);
  });

  test("counts up; a counter that stands still or falls is a copy's, if it ever counted", async () => {
    const { authenticator } = await openOwner();
    const outcomes = [];
    for (const counter of [0, 0, 7, 7, 6, 0, 8]) {
      outcomes.push((await signIn(authenticator, { counter })).status);
    }
    expect(outcomes).toEqual([200, 200, 200, 401, 401, 401, 200]);
  });

  test("counts on from where it stood when it was added", async () => {
    const { cookie } = await rig.signUp();
    const authenticator = makeAuthenticator(site);
    const asked = await ask(`${path}/creation`, cookie);
    const passkey = authenticator.make({ ...asked, counter: 5 });
    const added = await rig.call("POST", path, {
      cookie: asked.cookie,
      body: { name: "key", passkey },
    });
    expect(added.status).toBe(201);
    expect(refusalOf(await signIn(authenticator, { counter: 5 }))).toBe(refused);
    expect((await signIn(authenticator, { counter: 6 })).status).toBe(200);
  });

  test("of two answers at once with one counter, one signs in", async () => {
    const { authenticator } = await openOwner();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => signIn(authenticator, { counter: 9 })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe("a challenge (rule CALLER-21)", () => {
  test("is good once, for five minutes, in the browser that asked for it", async () => {
    const { authenticator } = await openOwner();
    const { challenge, cookie } = await ask(`${sessionPath}/passkey`);
    const other = await ask(`${sessionPath}/passkey`);
    const send = (by: string) => {
      const passkey = authenticator.sign({ challenge });
      return rig.call("POST", sessionPath, { cookie: by, body: { passkey } });
    };
    expect(refusalOf(await send(other.cookie))).toBe(refused);
    rig.clock.advance(challengeLifeMs - 1);
    expect((await send(cookie)).status).toBe(200);
    expect(refusalOf(await send(cookie))).toBe(refused);
    const late = await ask(`${sessionPath}/passkey`);
    rig.clock.advance(challengeLifeMs);
    const passkey = authenticator.sign(late);
    const answer = await rig.call("POST", sessionPath, { cookie: late.cookie, body: { passkey } });
    expect(refusalOf(answer)).toBe(refused);
  });

  test("given to make a key signs nobody in, and one to sign in makes none", async () => {
    const { cookie, authenticator } = await openOwner();
    const creation = await ask(`${path}/creation`, cookie);
    const passkey = authenticator.sign(creation);
    const signed = await rig.call("POST", sessionPath, {
      cookie: creation.cookie,
      body: { passkey },
    });
    expect(refusalOf(signed)).toBe(refused);
    const request = await ask(`${sessionPath}/passkey`, cookie);
    const body = { name: "second", passkey: makeAuthenticator(site).make(request) };
    expect(refusalOf(await rig.call("POST", path, { cookie: request.cookie, body }))).toBe(refused);
  });

  test("to make a key is the session's own", async () => {
    const { cookie } = await openOwner();
    const thief = await openOwner();
    const asked = await ask(`${path}/creation`, thief.cookie);
    const browser = asked.cookie.slice(thief.cookie.length);
    const body = { name: "the thief's", passkey: makeAuthenticator(site).make(asked) };
    const answer = await rig.call("POST", path, { cookie: `${cookie}${browser}`, body });
    expect(refusalOf(answer)).toBe(refused);
    expect(await listed(cookie)).toHaveLength(1);
  });
});

describe("adding a passkey", () => {
  test.each<[string, Said]>([
    ["another site", { origin: "https://evil.example" }],
    ["another name", { rpId: "evil.example" }],
    ["a person who is not verified", { isVerified: false }],
    ["a challenge of nobody's", { challenge: "A".repeat(43) }],
  ])("for %s is refused", async (_name, said) => {
    const { cookie } = await rig.signUp();
    const asked = await ask(`${path}/creation`, cookie);
    const passkey = makeAuthenticator(site).make({ ...asked, ...said });
    const given = { cookie: asked.cookie, body: { name: "key", passkey } };
    expect(refusalOf(await rig.call("POST", path, given))).toBe(refused);
    expect(await listed(cookie)).toEqual([]);
  });

  // What a certificate names would be fetched, and anybody can write one.
  test("with a certificate is refused unread", async () => {
    const { cookie } = await rig.signUp();
    const asked = await ask(`${path}/creation`, cookie);
    const passkey = makeAuthenticator(site).make(asked, certifiedStatement);
    const given = { cookie: asked.cookie, body: { name: "key", passkey } };
    expect(refusalOf(await rig.call("POST", path, given))).toBe(refused);
    expect(rig.logLines.join("\n")).toContain('"rule":"attestation"');
  });

  test("that is known already, or one too many, is refused (rule CALLER-15)", async () => {
    const { authenticator } = await openOwner();
    const { cookie } = await rig.signUp();
    expect(refusalOf(await add(cookie, authenticator))).toBe("409 PASSKEY_EXISTS");
    for (let made = 0; made < passkeysMax; made += 1) {
      expect((await add(cookie, makeAuthenticator(site))).status).toBe(201);
    }
    const more = await add(cookie, makeAuthenticator(site));
    expect(refusalOf(more)).toBe("409 PASSKEY_LIMIT");
  });
});

describe("a proof of presence by a passkey", () => {
  const act = (cookie: string) => {
    const body = { name: "shop", scopes: ["payment_link:read"] };
    return rig.call("POST", "/console/api/api-keys", { cookie, body });
  };
  const prove = async (cookie: string, authenticator: Authenticator) => {
    const asked = await ask(`${sessionPath}/passkey`, cookie);
    const passkey = authenticator.sign(asked);
    return rig.call("POST", `${sessionPath}/presence`, { cookie: asked.cookie, body: { passkey } });
  };

  test("renews the session of its account, and no other's", async () => {
    const { cookie, authenticator } = await openOwner();
    const other = await openOwner();
    rig.clock.advance(presenceMsMax);
    expect((await act(cookie)).body["errors"]).toMatchObject([{ methods: ["link", "passkey"] }]);
    const mismatch = await prove(cookie, other.authenticator);
    expect(refusalOf(mismatch)).toBe("403 REAUTHENTICATION_MISMATCH");
    const answer = await prove(cookie, authenticator);
    expect(answer.status).toBe(204);
    expect((await act(cookieOf(answer.headers))).status).toBe(201);
    expect(refusalOf(await act(cookie))).toBe("401 UNAUTHENTICATED");
  });
});

describe("taking a passkey away", () => {
  test("ends the sessions that it began, and it signs in no more", async () => {
    const { cookie, authenticator, id } = await openOwner();
    expect((await add(cookie, makeAuthenticator(site))).status).toBe(201);
    const session = cookieOf((await signIn(authenticator)).headers);
    expect((await rig.call("DELETE", `${path}/${id}`, { cookie })).status).toBe(204);
    expect((await rig.call("GET", sessionPath, { cookie: session })).status).toBe(401);
    expect((await rig.call("GET", sessionPath, { cookie })).status).toBe(200);
    expect(refusalOf(await signIn(authenticator))).toBe(refused);
  });

  test("is refused for the last way in, be the other one a passkey or a wallet (rule CALLER-22)", async () => {
    const { cookie, authenticator, id } = await openOwner();
    const last = await rig.call("DELETE", `${path}/${id}`, { cookie });
    expect(refusalOf(last)).toBe("409 LAST_WAY_IN");
    expect((await signIn(authenticator)).status).toBe(200);
    const wallet = makeWallet();
    const { nonce, browser } = await askNonce(rig, cookie);
    const { address } = wallet;
    const domain = { domain: "console.example", uri: origin };
    const message = siweMessage({ address, nonce, issuedAt: rig.clock.now(), ...domain });
    const linked = await rig.call("POST", "/console/api/identities", {
      cookie: `${cookie}; ${browser}`,
      body: { siwe: await signSiwe(wallet, message) },
    });
    expect(linked.status).toBe(201);
    expect((await rig.call("DELETE", `${path}/${id}`, { cookie })).status).toBe(204);
    const identity = `/console/api/identities/${String(linked.body["id"])}`;
    const unlinked = await rig.call("DELETE", identity, { cookie });
    expect(refusalOf(unlinked)).toBe("409 LAST_WAY_IN");
  });

  test("of two at once leaves one", async () => {
    const { cookie, id } = await openOwner();
    const second = String((await add(cookie, makeAuthenticator(site))).body["id"]);
    const answers = await Promise.all(
      [id, second].map((one) => rig.call("DELETE", `${path}/${one}`, { cookie })),
    );
    expect(answers.map(refusalOf).toSorted()).toEqual(["204", "409 LAST_WAY_IN"]);
  });

  test("is its owner's alone, and so is its name", async () => {
    const { cookie, id } = await openOwner();
    const stranger = await openOwner();
    const body = { name: "renamed" };
    const theirs = { cookie: stranger.cookie, body };
    expect(refusalOf(await rig.call("PATCH", `${path}/${id}`, theirs))).toBe("404 NOT_FOUND");
    const removed = await rig.call("DELETE", `${path}/${id}`, { cookie: stranger.cookie });
    expect(refusalOf(removed)).toBe("404 NOT_FOUND");
    expect((await rig.call("PATCH", `${path}/${id}`, { cookie, body })).body).toMatchObject(body);
    expect(await listed(cookie)).toMatchObject([{ id, name: "renamed" }]);
  });

  test("is what an operator does who revokes everything (rule CALLER-22)", async () => {
    const { userId, authenticator } = await openOwner();
    const { body } = await rig.call("POST", "/internal/accounts/revoke-everything", {
      body: { userId },
    });
    expect(body["passkeys"]).toBe(1);
    expect(refusalOf(await signIn(authenticator))).toBe(refused);
  });
});

describe("an installation without a name of its own, or not secure,", () => {
  test.each(["http://127.0.0.1:8080", "https://[::1]", "http://console.example"])(
    "such as %s, has no passkeys (rule CALLER-21)",
    async (baseUrl) => {
      const own = await openRig({ baseUrl });
      try {
        const { body } = await own.call("GET", `${sessionPath}/methods`);
        expect(body["methods"]).toEqual(["link", "siwe"]);
        const answer = await own.call("GET", `${sessionPath}/passkey`);
        expect(refusalOf(answer)).toBe("404 SIGN_IN_METHOD_UNAVAILABLE");
      } finally {
        await own.close();
      }
    },
  );
});
