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

/** Requests a challenge as a browser does, and returns it with the cookies of that browser. */
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

/** Creates a user with one passkey. */
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
  test("signs in to the account that added it without a user name, and is recorded", async () => {
    const { userId, cookie, authenticator, id } = await createOwner();
    expect(await listPasskeys(cookie)).toEqual([
      { id, name: "key", dateCreated: rig.clock.now().toISOString(), lastUsedAt: null },
    ]);
    // Sessions with the same start time have no defined order.
    rig.clock.advance(1);
    const response = await signIn(authenticator);
    expect([response.status, response.body["id"]]).toEqual([200, userId]);
    const session = getCookies(response.headers);
    expect((await listPasskeys(session))[0]?.lastUsedAt).toBe(rig.clock.now().toISOString());
    const { body } = await rig.call("GET", "/console/api/sessions", { cookie: session });
    expect(body["data"]).toMatchObject([{ method: "passkey", isCurrent: true }, {}]);
    expect(await rig.readAudit(userId)).toContain("passkey.added");
  });

  test("requires user verification and is discoverable without a user name", async () => {
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
    ["for another port of our host", { origin: "https://console.example:8443" }],
    ["for a parent domain of our host", { rpId: "example" }],
    ["inside another site's frame", { crossOrigin: true }],
    ["without user verification", { isVerified: false }],
    ["as a creation instead of a sign-in", { type: "webauthn.create" }],
    ["for a challenge that was not issued", { challenge: "A".repeat(43) }],
    [
      "with another account's user handle",
      { userHandle: Buffer.from("user_1").toString("base64url") },
    ],
  ])("is rejected if it responds %s", async (_name, options) => {
    const { authenticator } = await createOwner();
    const response = await signIn(authenticator, options);
    expect(summarizeResponse(response)).toBe(invalidPasskey);
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("is rejected if it is unknown, or if another key signed", async () => {
    const { authenticator } = await createOwner();
    const otherAuthenticator = createAuthenticator(relyingParty);
    expect(summarizeResponse(await signIn(otherAuthenticator))).toBe(invalidPasskey);
    const { challenge, cookie } = await fetchChallenge(`${sessionPath}/passkey`);
    const { id } = authenticator.sign({ challenge });
    const passkey = { ...otherAuthenticator.sign({ challenge }), id };
    const response = await rig.call("POST", sessionPath, { cookie, body: { passkey } });
    expect(summarizeResponse(response)).toBe(invalidPasskey);
  });

  test("must increase its counter at each sign-in once the counter was above 0", async () => {
    const { authenticator } = await createOwner();
    const results = [];
    for (const counter of [0, 0, 7, 7, 6, 0, 8]) {
      results.push((await signIn(authenticator, { counter })).status);
    }
    expect(results).toEqual([200, 200, 200, 401, 401, 401, 200]);
  });

  test("continues its counter from the value at its creation", async () => {
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

  test("signs in only one of several concurrent responses with the same counter", async () => {
    const { authenticator } = await createOwner();
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => signIn(authenticator, { counter: 9 })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe("a challenge (rule CALLER-21)", () => {
  test("is valid once, for 5 minutes, in the browser that requested it", async () => {
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

  test("for a new passkey cannot sign in, and one for a sign-in cannot add a passkey", async () => {
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

  test("for a new passkey is bound to its session", async () => {
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
    ["another relying party", { rpId: "evil.example" }],
    ["an unverified user", { isVerified: false }],
    ["a challenge that was not issued", { challenge: "A".repeat(43) }],
  ])("is rejected for %s", async (_name, options) => {
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

  // Anyone can create a certificate, and the library would fetch the URLs in it.
  test("is rejected with a certificate, which is not parsed", async () => {
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

  test("is rejected if the passkey already exists or exceeds the limit (rule CALLER-15)", async () => {
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

  test("renews the session of its own account only", async () => {
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

describe("removing a passkey", () => {
  test("ends the sessions that it started and disables its sign-in", async () => {
    const { cookie, authenticator, id } = await createOwner();
    expect((await addPasskey(cookie, createAuthenticator(relyingParty))).status).toBe(201);
    const session = getCookies((await signIn(authenticator)).headers);
    expect((await rig.call("DELETE", `${path}/${id}`, { cookie })).status).toBe(204);
    expect((await rig.call("GET", sessionPath, { cookie: session })).status).toBe(401);
    expect((await rig.call("GET", sessionPath, { cookie })).status).toBe(200);
    expect(summarizeResponse(await signIn(authenticator))).toBe(invalidPasskey);
  });

  test("is rejected for the last sign-in method, whether the other one is a passkey or a wallet (rule CALLER-22)", async () => {
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

  test("leaves one of two passkeys that are removed concurrently", async () => {
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

  test("responds 404 for other accounts, and so does renaming it", async () => {
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

  test("is a part of an operator's revoke-everything (rule CALLER-22)", async () => {
    const { userId, authenticator } = await createOwner();
    const { body } = await rig.call("POST", "/internal/accounts/revoke-everything", {
      body: { userId },
    });
    expect(body["passkeys"]).toBe(1);
    expect(summarizeResponse(await signIn(authenticator))).toBe(invalidPasskey);
  });
});

describe("an installation whose origin has no domain name or is not secure", () => {
  test.each(["http://127.0.0.1:8080", "https://[::1]", "http://console.example"])(
    "such as %s has no passkeys (rule CALLER-21)",
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
