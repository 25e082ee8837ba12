import { describe, expect, test } from "@jest/globals";
import { presenceMsMax } from "@payment-links/identity";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { challengeLifetimeMs, passkeysMax } from "../domain/passkey.ts";
import {
  type Authenticator,
  certifiedStatement,
  createAuthenticator,
} from "../testing/authenticator.ts";
import { getCookies, createRig, summarizeResponse } from "../testing/create-rig.ts";
import { fetchNonce, createWallet, signSiwe, createTestSiweMessage } from "../testing/siwe.ts";

const origin = "https://console.example";
const relyingParty = { origin, rpId: "console.example" };
const sessionPath = "/console/api/session";
const path = "/console/api/passkeys";
const invalidPasskey = "401 INVALID_PASSKEY";

const rig = useRig(() => createRig({ baseUrl: origin }));

/** Asks for a challenge as a browser does, which keeps the cookie that it is given. */
const fetchChallenge = async (challengePath: string, cookie = "") => {
  const response = await rig.call("GET", challengePath, { cookie });
  expect(response.status).toBe(200);
  const browser = getCookies(response.headers);
  return { challenge: String(response.body["challenge"]), cookie: `${cookie}; ${browser}` };
};

const addPasskey = async (cookie: string, authenticator: Authenticator, name = "key") => {
  const issuedChallenge = await fetchChallenge(`${path}/creation`, cookie);
  const body = { name, passkey: authenticator.createCredential(issuedChallenge) };
  return rig.call("POST", path, { cookie: issuedChallenge.cookie, body });
};

/** Somebody with one passkey. */
const createOwner = async () => {
  const user = await rig.signUp();
  const authenticator = createAuthenticator(relyingParty);
  const { status, body } = await addPasskey(user.cookie, authenticator);
  expect(status).toBe(201);
  return { ...user, authenticator, id: String(body["id"]) };
};

type CeremonyOptions = Partial<Parameters<Authenticator["sign"]>[0]>;

const signIn = async (authenticator: Authenticator, options: CeremonyOptions = {}) => {
  const { challenge, cookie } = await fetchChallenge(`${sessionPath}/passkey`);
  const passkey = authenticator.sign({ challenge, ...options });
  return rig.call("POST", sessionPath, { cookie, body: { passkey } });
};

const listPasskeys = async (cookie: string) => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as { id: string; name: string; lastUsedAt: string | null }[];
};

describe("a passkey (rule CALLER-21)", () => {
  test("signs in to the account that added it, without a name, and is written down", async () => {
    const { userId, cookie, authenticator, id } = await createOwner();
    expect(await listPasskeys(cookie)).toEqual([
      { id, name: "key", dateCreated: rig.clock.now().toISOString(), lastUsedAt: null },
    ]);
    // Sessions of one instant stand in any order.
    rig.clock.advance(1);
    const response = await signIn(authenticator);
    expect([response.status, response.body["id"]]).toEqual([200, userId]);
    const session = getCookies(response.headers);
    expect((await listPasskeys(session))[0]?.lastUsedAt).toBe(rig.clock.now().toISOString());
    const { body } = await rig.call("GET", "/console/api/sessions", { cookie: session });
    expect(body["data"]).toMatchObject([{ method: "passkey", isCurrent: true }, {}]);
    expect(await rig.readAudit(userId)).toContain("passkey.added");
  });

  test("is asked for with the person verified, and made to be found without a name", async () => {
    const { userId, cookie, authenticator } = await createOwner();
    const request = await rig.call("GET", `${sessionPath}/passkey`);
    expect(request.body).toEqual({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rpId: relyingParty.rpId,
      timeout: challengeLifetimeMs,
      userVerification: "required",
    });
    const { body } = await rig.call("GET", `${path}/creation`, { cookie });
    const { id } = authenticator.sign({ challenge: "" });
    expect(body).toMatchObject({
      rp: { id: relyingParty.rpId },
      user: { id: Buffer.from(userId).toString("base64url") },
      excludeCredentials: [{ type: "public-key", id }],
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    });
  });

  test.each<[string, CeremonyOptions]>([
    ["for another site", { origin: "https://console.example.evil.example" }],
    ["for another port of ours", { origin: "https://console.example:8443" }],
    ["for another name of ours", { rpId: "example" }],
    ["inside another site's frame", { crossOrigin: true }],
    ["without the person verified", { isVerified: false }],
    ["to make a key and not to sign in", { type: "webauthn.create" }],
    ["for a challenge that nobody gave", { challenge: "A".repeat(43) }],
    ["under another account's handle", { userHandle: Buffer.from("user_1").toString("base64url") }],
  ])("that answers %s is refused", async (_name, options) => {
    const { authenticator } = await createOwner();
    const response = await signIn(authenticator, options);
    expect(summarizeResponse(response)).toBe(invalidPasskey);
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("that nobody added is refused, and so is another key's signature", async () => {
    const { authenticator } = await createOwner();
    const otherAuthenticator = createAuthenticator(relyingParty);
    expect(summarizeResponse(await signIn(otherAuthenticator))).toBe(invalidPasskey);
    const { challenge, cookie } = await fetchChallenge(`${sessionPath}/passkey`);
    const { id } = authenticator.sign({ challenge });
    const passkey = { ...otherAuthenticator.sign({ challenge }), id };
    const response = await rig.call("POST", sessionPath, { cookie, body: { passkey } });
    expect(summarizeResponse(response)).toBe(invalidPasskey);
  });

  test("counts up; a counter that stands still or falls is a copy's, if it ever counted", async () => {
    const { authenticator } = await createOwner();
    const results = [];
    for (const counter of [0, 0, 7, 7, 6, 0, 8]) {
      results.push((await signIn(authenticator, { counter })).status);
    }
    expect(results).toEqual([200, 200, 200, 401, 401, 401, 200]);
  });

  test("counts on from where it stood when it was added", async () => {
    const { cookie } = await rig.signUp();
    const authenticator = createAuthenticator(relyingParty);
    const issuedChallenge = await fetchChallenge(`${path}/creation`, cookie);
    const passkey = authenticator.createCredential({ ...issuedChallenge, counter: 5 });
    const addResponse = await rig.call("POST", path, {
      cookie: issuedChallenge.cookie,
      body: { name: "key", passkey },
    });
    expect(addResponse.status).toBe(201);
    expect(summarizeResponse(await signIn(authenticator, { counter: 5 }))).toBe(invalidPasskey);
    expect((await signIn(authenticator, { counter: 6 })).status).toBe(200);
  });

  test("of two answers at once with one counter, one signs in", async () => {
    const { authenticator } = await createOwner();
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => signIn(authenticator, { counter: 9 })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe("a challenge (rule CALLER-21)", () => {
  test("is good once, for five minutes, in the browser that asked for it", async () => {
    const { authenticator } = await createOwner();
    const { challenge, cookie } = await fetchChallenge(`${sessionPath}/passkey`);
    const otherChallenge = await fetchChallenge(`${sessionPath}/passkey`);
    const signInWithCookie = (signInCookie: string) => {
      const passkey = authenticator.sign({ challenge });
      return rig.call("POST", sessionPath, { cookie: signInCookie, body: { passkey } });
    };
    expect(summarizeResponse(await signInWithCookie(otherChallenge.cookie))).toBe(invalidPasskey);
    rig.clock.advance(challengeLifetimeMs - 1);
    expect((await signInWithCookie(cookie)).status).toBe(200);
    expect(summarizeResponse(await signInWithCookie(cookie))).toBe(invalidPasskey);
    const lateChallenge = await fetchChallenge(`${sessionPath}/passkey`);
    rig.clock.advance(challengeLifetimeMs);
    const passkey = authenticator.sign(lateChallenge);
    const response = await rig.call("POST", sessionPath, {
      cookie: lateChallenge.cookie,
      body: { passkey },
    });
    expect(summarizeResponse(response)).toBe(invalidPasskey);
  });

  test("given to make a key signs nobody in, and one to sign in makes none", async () => {
    const { cookie, authenticator } = await createOwner();
    const creation = await fetchChallenge(`${path}/creation`, cookie);
    const passkey = authenticator.sign(creation);
    const signInResponse = await rig.call("POST", sessionPath, {
      cookie: creation.cookie,
      body: { passkey },
    });
    expect(summarizeResponse(signInResponse)).toBe(invalidPasskey);
    const request = await fetchChallenge(`${sessionPath}/passkey`, cookie);
    const body = {
      name: "second",
      passkey: createAuthenticator(relyingParty).createCredential(request),
    };
    expect(summarizeResponse(await rig.call("POST", path, { cookie: request.cookie, body }))).toBe(
      invalidPasskey,
    );
  });

  test("to make a key is the session's own", async () => {
    const { cookie } = await createOwner();
    const otherOwner = await createOwner();
    const issuedChallenge = await fetchChallenge(`${path}/creation`, otherOwner.cookie);
    const browser = issuedChallenge.cookie.slice(otherOwner.cookie.length);
    const body = {
      name: "the thief's",
      passkey: createAuthenticator(relyingParty).createCredential(issuedChallenge),
    };
    const response = await rig.call("POST", path, { cookie: `${cookie}${browser}`, body });
    expect(summarizeResponse(response)).toBe(invalidPasskey);
    expect(await listPasskeys(cookie)).toHaveLength(1);
  });
});

describe("adding a passkey", () => {
  test.each<[string, CeremonyOptions]>([
    ["another site", { origin: "https://evil.example" }],
    ["another name", { rpId: "evil.example" }],
    ["a person who is not verified", { isVerified: false }],
    ["a challenge of nobody's", { challenge: "A".repeat(43) }],
  ])("for %s is refused", async (_name, options) => {
    const { cookie } = await rig.signUp();
    const issuedChallenge = await fetchChallenge(`${path}/creation`, cookie);
    const passkey = createAuthenticator(relyingParty).createCredential({
      ...issuedChallenge,
      ...options,
    });
    const requestOptions = { cookie: issuedChallenge.cookie, body: { name: "key", passkey } };
    expect(summarizeResponse(await rig.call("POST", path, requestOptions))).toBe(invalidPasskey);
    expect(await listPasskeys(cookie)).toEqual([]);
  });

  // What a certificate names would be fetched, and anybody can write one.
  test("with a certificate is refused unread", async () => {
    const { cookie } = await rig.signUp();
    const issuedChallenge = await fetchChallenge(`${path}/creation`, cookie);
    const passkey = createAuthenticator(relyingParty).createCredential(
      issuedChallenge,
      certifiedStatement,
    );
    const requestOptions = { cookie: issuedChallenge.cookie, body: { name: "key", passkey } };
    expect(summarizeResponse(await rig.call("POST", path, requestOptions))).toBe(invalidPasskey);
    expect(rig.logLines.join("\n")).toContain('"rule":"attestation"');
  });

  test("that is known already, or one too many, is refused (rule CALLER-15)", async () => {
    const { authenticator } = await createOwner();
    const { cookie } = await rig.signUp();
    expect(summarizeResponse(await addPasskey(cookie, authenticator))).toBe("409 PASSKEY_EXISTS");
    for (let count = 0; count < passkeysMax; count += 1) {
      expect((await addPasskey(cookie, createAuthenticator(relyingParty))).status).toBe(201);
    }
    const extraResponse = await addPasskey(cookie, createAuthenticator(relyingParty));
    expect(summarizeResponse(extraResponse)).toBe("409 PASSKEY_LIMIT");
  });
});

describe("a proof of presence by a passkey", () => {
  const createApiKey = (cookie: string) => {
    const body = { name: "shop", scopes: ["payment_link:read"] };
    return rig.call("POST", "/console/api/api-keys", { cookie, body });
  };
  const provePresence = async (cookie: string, authenticator: Authenticator) => {
    const issuedChallenge = await fetchChallenge(`${sessionPath}/passkey`, cookie);
    const passkey = authenticator.sign(issuedChallenge);
    return rig.call("POST", `${sessionPath}/presence`, {
      cookie: issuedChallenge.cookie,
      body: { passkey },
    });
  };

  test("renews the session of its account, and no other's", async () => {
    const { cookie, authenticator } = await createOwner();
    const otherOwner = await createOwner();
    rig.clock.advance(presenceMsMax);
    expect((await createApiKey(cookie)).body["errors"]).toMatchObject([
      { methods: ["link", "passkey"] },
    ]);
    const mismatch = await provePresence(cookie, otherOwner.authenticator);
    expect(summarizeResponse(mismatch)).toBe("403 REAUTHENTICATION_MISMATCH");
    const response = await provePresence(cookie, authenticator);
    expect(response.status).toBe(204);
    expect((await createApiKey(getCookies(response.headers))).status).toBe(201);
    expect(summarizeResponse(await createApiKey(cookie))).toBe("401 UNAUTHENTICATED");
  });
});

describe("taking a passkey away", () => {
  test("ends the sessions that it began, and it signs in no more", async () => {
    const { cookie, authenticator, id } = await createOwner();
    expect((await addPasskey(cookie, createAuthenticator(relyingParty))).status).toBe(201);
    const session = getCookies((await signIn(authenticator)).headers);
    expect((await rig.call("DELETE", `${path}/${id}`, { cookie })).status).toBe(204);
    expect((await rig.call("GET", sessionPath, { cookie: session })).status).toBe(401);
    expect((await rig.call("GET", sessionPath, { cookie })).status).toBe(200);
    expect(summarizeResponse(await signIn(authenticator))).toBe(invalidPasskey);
  });

  test("is refused for the last way in, be the other one a passkey or a wallet (rule CALLER-22)", async () => {
    const { cookie, authenticator, id } = await createOwner();
    const deleteResponse = await rig.call("DELETE", `${path}/${id}`, { cookie });
    expect(summarizeResponse(deleteResponse)).toBe("409 LAST_WAY_IN");
    expect((await signIn(authenticator)).status).toBe(200);
    const wallet = createWallet();
    const { nonce, browserCookie } = await fetchNonce(rig, cookie);
    const { address } = wallet;
    const domain = { domain: "console.example", uri: origin };
    const message = createTestSiweMessage({ address, nonce, issuedAt: rig.clock.now(), ...domain });
    const linkResponse = await rig.call("POST", "/console/api/identities", {
      cookie: `${cookie}; ${browserCookie}`,
      body: { siwe: await signSiwe(wallet, message) },
    });
    expect(linkResponse.status).toBe(201);
    expect((await rig.call("DELETE", `${path}/${id}`, { cookie })).status).toBe(204);
    const identity = `/console/api/identities/${String(linkResponse.body["id"])}`;
    const unlinkResponse = await rig.call("DELETE", identity, { cookie });
    expect(summarizeResponse(unlinkResponse)).toBe("409 LAST_WAY_IN");
  });

  test("of two at once leaves one", async () => {
    const { cookie, id } = await createOwner();
    const secondPasskeyId = String(
      (await addPasskey(cookie, createAuthenticator(relyingParty))).body["id"],
    );
    const responses = await Promise.all(
      [id, secondPasskeyId].map((passkeyId) =>
        rig.call("DELETE", `${path}/${passkeyId}`, { cookie }),
      ),
    );
    expect(responses.map(summarizeResponse).toSorted()).toEqual(["204", "409 LAST_WAY_IN"]);
  });

  test("is its owner's alone, and so is its name", async () => {
    const { cookie, id } = await createOwner();
    const otherOwner = await createOwner();
    const body = { name: "renamed" };
    const otherOwnerOptions = { cookie: otherOwner.cookie, body };
    expect(summarizeResponse(await rig.call("PATCH", `${path}/${id}`, otherOwnerOptions))).toBe(
      "404 NOT_FOUND",
    );
    const deleteResponse = await rig.call("DELETE", `${path}/${id}`, { cookie: otherOwner.cookie });
    expect(summarizeResponse(deleteResponse)).toBe("404 NOT_FOUND");
    expect((await rig.call("PATCH", `${path}/${id}`, { cookie, body })).body).toMatchObject(body);
    expect(await listPasskeys(cookie)).toMatchObject([{ id, name: "renamed" }]);
  });

  test("is what an operator does who revokes everything (rule CALLER-22)", async () => {
    const { userId, authenticator } = await createOwner();
    const { body } = await rig.call("POST", "/internal/accounts/revoke-everything", {
      body: { userId },
    });
    expect(body["passkeys"]).toBe(1);
    expect(summarizeResponse(await signIn(authenticator))).toBe(invalidPasskey);
  });
});

describe("an installation without a name of its own, or not secure,", () => {
  test.each(["http://127.0.0.1:8080", "https://[::1]", "http://console.example"])(
    "such as %s, has no passkeys (rule CALLER-21)",
    async (baseUrl) => {
      const ownRig = await createRig({ baseUrl });
      try {
        const { body } = await ownRig.call("GET", `${sessionPath}/methods`);
        expect(body["methods"]).toEqual(["link", "siwe"]);
        const response = await ownRig.call("GET", `${sessionPath}/passkey`);
        expect(summarizeResponse(response)).toBe("404 SIGN_IN_METHOD_UNAVAILABLE");
      } finally {
        await ownRig.close();
      }
    },
  );
});
