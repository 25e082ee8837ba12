import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { exportSPKI } from "jose";
import * as z from "zod";
import { sql } from "slonik";
import { getCookies, createRig, summarizeResponse, type Rig } from "../testing/create-rig.ts";
import { type TamperingIssuer, startTamperingIssuer } from "../testing/tampering-issuer.ts";

const startPath = "/console/api/session/oidc";
const Count = z.object({ count: z.int() });

let issuer: TamperingIssuer;
let rig: Rig;
beforeAll(async () => {
  issuer = await startTamperingIssuer();
  rig = await createRig({ oidc: issuer.client });
});
afterAll(async () => {
  await rig.close();
  await issuer.close();
});

const startSignIn = async (targetRig = rig) => {
  const response = await targetRig.call("GET", startPath);
  const authorizationParams = new URL(response.headers.get("location") ?? "").searchParams;
  return {
    cookie: getCookies(response.headers),
    state: authorizationParams.get("state") ?? "",
    nonce: authorizationParams.get("nonce") ?? "",
    challenge: authorizationParams.get("code_challenge"),
  };
};
type StartedSignIn = Awaited<ReturnType<typeof startSignIn>>;

const finishSignIn = ({ cookie, state }: StartedSignIn, targetRig = rig) =>
  targetRig.call("GET", `${startPath}/callback?code=made-up&state=${state}`, { cookie });

const countAccounts = () =>
  rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM accounts`);

const base64url = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

type Claims = Record<string, unknown>;

describe("an issuer's response", () => {
  test("signs in if it is valid, using the challenge's verifier and our client secret", async () => {
    const signIn = await startSignIn();
    issuer.setTokenResponse(await issuer.signToken(issuer.claims(signIn.nonce, rig.clock.now())));
    const response = await finishSignIn(signIn);
    expect([response.status, response.headers.get("location")]).toEqual([
      303,
      "http://127.0.0.1:8080/console",
    ]);
    expect(getCookies(response.headers)).toMatch(/^session=[\w-]{43}$/);
    const request = issuer.requests.at(-1);
    const verifier = request?.form.get("code_verifier") ?? "";
    expect(createHash("sha256").update(verifier).digest("base64url")).toBe(signIn.challenge);
    expect(request?.form.get("code")).toBe("made-up");
    expect(request?.form.get("client_secret")).toBeNull();
    // Name and secret are form-encoded separately (RFC 6749 §2.3.1).
    const basicCredentials = request?.authorization?.slice("Basic ".length) ?? "";
    const [name, secret] = Buffer.from(basicCredentials, "base64").toString().split(":");
    const parsedCredentials = new URLSearchParams(`name=${name}&secret=${secret}`);
    const { clientId, clientSecret } = issuer.client;
    expect([parsedCredentials.get("name"), parsedCredentials.get("secret")]).toEqual([
      clientId,
      clientSecret,
    ]);
  });

  test.each<[string, (claims: Claims) => Claims]>([
    ["another nonce", (claims) => ({ ...claims, nonce: "another" })],
    ["no nonce", ({ nonce: _nonce, ...remainingClaims }) => remainingClaims],
    ["another issuer", (claims) => ({ ...claims, iss: "https://evil.example" })],
    [
      "our issuer with a trailing slash",
      (claims) => ({ ...claims, iss: `${String(claims["iss"])}/` }),
    ],
    ["no issuer", ({ iss: _iss, ...remainingClaims }) => remainingClaims],
    ["another audience", (claims) => ({ ...claims, aud: "another-client" })],
    ["no audience", ({ aud: _aud, ...remainingClaims }) => remainingClaims],
    [
      "several audiences and another authorized party",
      (claims) => ({
        ...claims,
        aud: [claims["aud"], "another-client"],
        azp: "another-client",
      }),
    ],
    ["an expiry in the past", (claims) => ({ ...claims, exp: Number(claims["iat"]) - 31 })],
    ["no expiry", ({ exp: _exp, ...remainingClaims }) => remainingClaims],
    [
      "a not-before time in the future",
      (claims) => ({ ...claims, nbf: Number(claims["iat"]) + 31 }),
    ],
    ["no issue time", ({ iat: _iat, ...remainingClaims }) => remainingClaims],
    ["no subject", ({ sub: _sub, ...remainingClaims }) => remainingClaims],
    ["an empty subject", (claims) => ({ ...claims, sub: "" })],
    ["a subject of 256 characters", (claims) => ({ ...claims, sub: "s".repeat(256) })],
    ["a subject with NUL in it", (claims) => ({ ...claims, sub: "a\0b" })],
    ["a numeric subject", (claims) => ({ ...claims, sub: 1 })],
  ])("is rejected if its ID token has %s", async (_name, tamper) => {
    const signIn = await startSignIn();
    const claims = issuer.claims(signIn.nonce, rig.clock.now());
    issuer.setTokenResponse(await issuer.signToken(tamper(claims)));
    await expectRejected(signIn);
  });

  test.each<[string, (claims: Claims) => Claims]>([
    // The age is one second below the tolerance, because both clocks are read in whole seconds.
    ["a not-before time 29 s ahead", (claims) => ({ ...claims, nbf: Number(claims["iat"]) + 29 })],
    ["a subject of 255 characters", (claims) => ({ ...claims, sub: "s".repeat(255) })],
  ])("is accepted if its ID token has %s", async (_name, tamper) => {
    const signIn = await startSignIn();
    const claims = issuer.claims(signIn.nonce, rig.clock.now());
    issuer.setTokenResponse(await issuer.signToken(tamper(claims)));
    expect(getCookies((await finishSignIn(signIn)).headers)).toMatch(/^session=/);
  });

  test.each<[string, (claims: Claims) => Promise<string | undefined> | string | undefined]>([
    ["is missing", () => undefined],
    ["is not a JWT", () => "a.b"],
    ["is not signed (alg none)", (claims) => `${base64url({ alg: "none" })}.${base64url(claims)}.`],
    ["is not signed (alg None)", (claims) => `${base64url({ alg: "None" })}.${base64url(claims)}.`],
    [
      "claims RS256 and has no signature",
      (claims) => `${base64url({ alg: "RS256", kid: "k" })}.${base64url(claims)}.`,
    ],
    [
      "is signed by another key with the same id",
      async (claims) => issuer.signToken(claims, { key: (await issuer.createKey()).privateKey }),
    ],
    ["is signed by a key with another id", (claims) => issuer.signToken(claims, { kid: "other" })],
    [
      "is signed with our client secret (HS256)",
      (claims) =>
        issuer.signToken(claims, {
          alg: "HS256",
          key: new TextEncoder().encode(issuer.client.clientSecret),
        }),
    ],
    [
      "is signed with the public key as a secret (HS256)",
      async (claims) =>
        issuer.signToken(claims, {
          alg: "HS256",
          key: new TextEncoder().encode(await exportSPKI(issuer.keys.publicKey)),
        }),
    ],
    [
      "was changed after it was signed",
      async (claims) => {
        const [header, , signature] = (await issuer.signToken(claims)).split(".");
        return `${header}.${base64url({ ...claims, sub: "another" })}.${signature}`;
      },
    ],
  ])("is rejected if its ID token %s", async (_name, createToken) => {
    const signIn = await startSignIn();
    issuer.setTokenResponse(await createToken(issuer.claims(signIn.nonce, rig.clock.now())));
    await expectRejected(signIn);
  });

  test("is rejected if unsigned, even if the issuer's metadata allows that", async () => {
    const ownIssuer = await startTamperingIssuer();
    const algorithms = ["none", "HS256", "RS256"];
    ownIssuer.responses.metadata = ownIssuer.createJsonResponse(200, {
      ...ownIssuer.metadata,
      id_token_signing_alg_values_supported: algorithms,
    });
    const ownRig = await createRig({ oidc: ownIssuer.client });
    try {
      for (const alg of ["none", "HS256"]) {
        const signIn = await startSignIn(ownRig);
        const claims = ownIssuer.claims(signIn.nonce, ownRig.clock.now());
        const key = new TextEncoder().encode(ownIssuer.client.clientSecret);
        ownIssuer.setTokenResponse(
          alg === "none"
            ? `${base64url({ alg })}.${base64url(claims)}.`
            : await ownIssuer.signToken(claims, { alg, key }),
        );
        expect(summarizeResponse(await finishSignIn(signIn, ownRig))).toBe(
          "401 OIDC_SIGN_IN_REFUSED",
        );
      }
    } finally {
      await ownRig.close();
      await ownIssuer.close();
    }
  });

  test("is rejected once its key was rotated, and accepted with the next key", async () => {
    const ownIssuer = await startTamperingIssuer();
    const ownRig = await createRig({ oidc: ownIssuer.client });
    try {
      const createToken = async (signIn: StartedSignIn) =>
        ownIssuer.signToken(ownIssuer.claims(signIn.nonce, ownRig.clock.now()));
      const firstSignIn = await startSignIn(ownRig);
      ownIssuer.setTokenResponse(await createToken(firstSignIn));
      expect((await finishSignIn(firstSignIn, ownRig)).status).toBe(303);
      const nextIssuer = await startTamperingIssuer();
      ownIssuer.responses.keys = nextIssuer.responses.keys;
      await nextIssuer.close();
      const secondSignIn = await startSignIn(ownRig);
      ownIssuer.setTokenResponse(await createToken(secondSignIn));
      expect(summarizeResponse(await finishSignIn(secondSignIn, ownRig))).toBe(
        "401 OIDC_SIGN_IN_REFUSED",
      );
      const thirdSignIn = await startSignIn(ownRig);
      const claims = ownIssuer.claims(thirdSignIn.nonce, ownRig.clock.now());
      ownIssuer.setTokenResponse(
        await ownIssuer.signToken(claims, { key: nextIssuer.keys.privateKey }),
      );
      expect((await finishSignIn(thirdSignIn, ownRig)).status).toBe(303);
    } finally {
      await ownRig.close();
      await ownIssuer.close();
    }
  });

  test.each<[string, () => void]>([
    [
      "that the code is invalid",
      () => {
        issuer.responses.token = issuer.createJsonResponse(400, { error: "invalid_grant" });
      },
    ],
    [
      "that our client is invalid",
      () => {
        issuer.responses.token = issuer.createJsonResponse(401, { error: "invalid_client" });
      },
    ],
    [
      "something that is not JSON",
      () => {
        issuer.responses.token = { status: 200, body: "<html>" };
      },
    ],
    [
      "a JSON list",
      () => {
        issuer.responses.token = issuer.createJsonResponse(200, []);
      },
    ],
  ])("is rejected if the token endpoint returns %s", async (_name, arrangeResponse) => {
    const signIn = await startSignIn();
    arrangeResponse();
    await expectRejected(signIn);
  });

  // The code, the verifier and our secret must be sent only to the token endpoint.
  test.each([302, 307])(
    "is rejected if it is a redirect with status %d, which is not followed",
    async (status) => {
      const signIn = await startSignIn();
      const headers = { location: `${issuer.client.issuer}/elsewhere` };
      issuer.responses.token = { status, body: "", headers };
      const requestedPaths: string[] = [];
      const { beforeResponse } = issuer.hooks;
      issuer.hooks.beforeResponse = async (path) => void requestedPaths.push(path);
      try {
        await expectRejected(signIn);
      } finally {
        issuer.hooks.beforeResponse = beforeResponse;
      }
      expect(requestedPaths).toEqual(["/token"]);
    },
  );

  test("is rejected without any of its secrets in the log", async () => {
    const signIn = await startSignIn();
    const token = await issuer.signToken({
      ...issuer.claims(signIn.nonce, rig.clock.now()),
      aud: "x",
    });
    issuer.setTokenResponse(token);
    await expectRejected(signIn);
    const log = rig.logLines.join("\n");
    expect(log).toContain('"method":"oidc","rule":"OAUTH_');
    const verifier = issuer.requests.at(-1)?.form.get("code_verifier") ?? "none";
    const { clientSecret = "none" } = issuer.client;
    for (const secret of [token, signIn.nonce, signIn.state, verifier, clientSecret, "made-up"]) {
      expect(log).not.toContain(secret);
    }
  });
});

/** Expects a rejection: no session, no new account, and a consumed state. */
const expectRejected = async (signIn: StartedSignIn): Promise<void> => {
  const accountsBefore = await countAccounts();
  const response = await finishSignIn(signIn);
  expect(summarizeResponse(response)).toBe("401 OIDC_SIGN_IN_REFUSED");
  expect(response.headers.get("set-cookie")).toBeNull();
  expect(await countAccounts()).toBe(accountsBefore);
};
