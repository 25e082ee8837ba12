import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { exportSPKI } from "jose";
import * as z from "zod";
import { sql } from "slonik";
import { cookieOf, openRig, refusalOf, type Rig } from "../testing/open-rig.ts";
import { type TamperingIssuer, openTamperingIssuer } from "../testing/tampering-issuer.ts";

const startPath = "/console/api/session/oidc";
const Count = z.object({ count: z.int() });

let issuer: TamperingIssuer;
let rig: Rig;
beforeAll(async () => {
  issuer = await openTamperingIssuer();
  rig = await openRig({ oidc: issuer.client });
});
afterAll(async () => {
  await rig.close();
  await issuer.close();
});

const start = async (own = rig) => {
  const answer = await own.call("GET", startPath);
  const asked = new URL(answer.headers.get("location") ?? "").searchParams;
  return {
    cookie: cookieOf(answer.headers),
    state: asked.get("state") ?? "",
    nonce: asked.get("nonce") ?? "",
    challenge: asked.get("code_challenge"),
  };
};
type Started = Awaited<ReturnType<typeof start>>;

const comeBack = ({ cookie, state }: Started, own = rig) =>
  own.call("GET", `${startPath}/callback?code=made-up&state=${state}`, { cookie });

const countAccounts = () =>
  rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM accounts`);

const base64url = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString("base64url");

type Claims = Record<string, unknown>;

describe("an answer of an issuer", () => {
  test("that is right signs in, by the verifier of the challenge and with our secret", async () => {
    const started = await start();
    issuer.giveToken(await issuer.sign(issuer.claims(started.nonce, rig.clock.now())));
    const answer = await comeBack(started);
    expect([answer.status, answer.headers.get("location")]).toEqual([
      303,
      "http://127.0.0.1:8080/console",
    ]);
    expect(cookieOf(answer.headers)).toMatch(/^session=[\w-]{43}$/);
    const request = issuer.requests.at(-1);
    const verifier = request?.form.get("code_verifier") ?? "";
    expect(createHash("sha256").update(verifier).digest("base64url")).toBe(started.challenge);
    expect(request?.form.get("code")).toBe("made-up");
    expect(request?.form.get("client_secret")).toBeNull();
    // Name and secret are form-encoded separately (RFC 6749 §2.3.1).
    const basic = request?.authorization?.slice("Basic ".length) ?? "";
    const [name, secret] = Buffer.from(basic, "base64").toString().split(":");
    const sent = new URLSearchParams(`name=${name}&secret=${secret}`);
    const { clientId, clientSecret } = issuer.client;
    expect([sent.get("name"), sent.get("secret")]).toEqual([clientId, clientSecret]);
  });

  test.each<[string, (right: Claims) => Claims]>([
    ["another nonce", (right) => ({ ...right, nonce: "another" })],
    ["no nonce", ({ nonce: _nonce, ...rest }) => rest],
    ["another issuer", (right) => ({ ...right, iss: "https://evil.example" })],
    [
      "our issuer with a slash behind it",
      (right) => ({ ...right, iss: `${String(right["iss"])}/` }),
    ],
    ["no issuer", ({ iss: _iss, ...rest }) => rest],
    ["another audience", (right) => ({ ...right, aud: "another-client" })],
    ["no audience", ({ aud: _aud, ...rest }) => rest],
    [
      "several audiences, and another party",
      (right) => ({
        ...right,
        aud: [right["aud"], "another-client"],
        azp: "another-client",
      }),
    ],
    ["an end that has passed", (right) => ({ ...right, exp: Number(right["iat"]) - 31 })],
    ["no end", ({ exp: _exp, ...rest }) => rest],
    ["a beginning to come", (right) => ({ ...right, nbf: Number(right["iat"]) + 31 })],
    ["no time of issue", ({ iat: _iat, ...rest }) => rest],
    ["no subject", ({ sub: _sub, ...rest }) => rest],
    ["an empty subject", (right) => ({ ...right, sub: "" })],
    ["a subject of 256 characters", (right) => ({ ...right, sub: "s".repeat(256) })],
    ["a subject with NUL in it", (right) => ({ ...right, sub: "a\0b" })],
    ["a number as its subject", (right) => ({ ...right, sub: 1 })],
  ])("whose ID token has %s is refused", async (_name, change) => {
    const started = await start();
    const right = issuer.claims(started.nonce, rig.clock.now());
    issuer.giveToken(await issuer.sign(change(right)));
    await expectRefused(started);
  });

  test.each<[string, (right: Claims) => Claims]>([
    // A second less than is granted, as both clocks are read in whole seconds.
    [
      "a beginning by a clock that is 29 s ahead",
      (right) => ({ ...right, nbf: Number(right["iat"]) + 29 }),
    ],
    ["a subject of 255 characters", (right) => ({ ...right, sub: "s".repeat(255) })],
  ])("whose ID token has %s signs in", async (_name, change) => {
    const started = await start();
    const right = issuer.claims(started.nonce, rig.clock.now());
    issuer.giveToken(await issuer.sign(change(right)));
    expect(cookieOf((await comeBack(started)).headers)).toMatch(/^session=/);
  });

  test.each<[string, (right: Claims) => Promise<string | undefined> | string | undefined]>([
    ["is not there", () => undefined],
    ["is no token", () => "a.b"],
    ["is not signed (alg none)", (right) => `${base64url({ alg: "none" })}.${base64url(right)}.`],
    ["is not signed (alg None)", (right) => `${base64url({ alg: "None" })}.${base64url(right)}.`],
    [
      "says RS256 and has no signature",
      (right) => `${base64url({ alg: "RS256", kid: "k" })}.${base64url(right)}.`,
    ],
    [
      "is signed by another key of the same name",
      async (right) => issuer.sign(right, { key: (await issuer.makeKey()).privateKey }),
    ],
    ["is signed by a key of another name", (right) => issuer.sign(right, { kid: "other" })],
    [
      "is signed by our secret (HS256)",
      (right) =>
        issuer.sign(right, {
          alg: "HS256",
          key: new TextEncoder().encode(issuer.client.clientSecret),
        }),
    ],
    [
      "is signed by the public key as a secret (HS256)",
      async (right) =>
        issuer.sign(right, {
          alg: "HS256",
          key: new TextEncoder().encode(await exportSPKI(issuer.keys.publicKey)),
        }),
    ],
    [
      "was changed after its signing",
      async (right) => {
        const [header, , signature] = (await issuer.sign(right)).split(".");
        return `${header}.${base64url({ ...right, sub: "another" })}.${signature}`;
      },
    ],
  ])("whose ID token %s is refused", async (_name, make) => {
    const started = await start();
    issuer.giveToken(await make(issuer.claims(started.nonce, rig.clock.now())));
    await expectRefused(started);
  });

  test("that is not signed is refused, though the issuer says that it may not be", async () => {
    const own = await openTamperingIssuer();
    const algorithms = ["none", "HS256", "RS256"];
    own.answers.metadata = own.json(200, {
      ...own.metadata,
      id_token_signing_alg_values_supported: algorithms,
    });
    const ownRig = await openRig({ oidc: own.client });
    try {
      for (const alg of ["none", "HS256"]) {
        const started = await start(ownRig);
        const claims = own.claims(started.nonce, ownRig.clock.now());
        const key = new TextEncoder().encode(own.client.clientSecret);
        own.giveToken(
          alg === "none"
            ? `${base64url({ alg })}.${base64url(claims)}.`
            : await own.sign(claims, { alg, key }),
        );
        expect(refusalOf(await comeBack(started, ownRig))).toBe("401 OIDC_SIGN_IN_REFUSED");
      }
    } finally {
      await ownRig.close();
      await own.close();
    }
  });

  test("whose key was taken back is refused from then on, and its next key is taken", async () => {
    const own = await openTamperingIssuer();
    const ownRig = await openRig({ oidc: own.client });
    try {
      const tokenOf = async (started: Started) =>
        own.sign(own.claims(started.nonce, ownRig.clock.now()));
      const first = await start(ownRig);
      own.giveToken(await tokenOf(first));
      expect((await comeBack(first, ownRig)).status).toBe(303);
      const next = await openTamperingIssuer();
      own.answers.keys = next.answers.keys;
      await next.close();
      const second = await start(ownRig);
      own.giveToken(await tokenOf(second));
      expect(refusalOf(await comeBack(second, ownRig))).toBe("401 OIDC_SIGN_IN_REFUSED");
      const third = await start(ownRig);
      const claims = own.claims(third.nonce, ownRig.clock.now());
      own.giveToken(await own.sign(claims, { key: next.keys.privateKey }));
      expect((await comeBack(third, ownRig)).status).toBe(303);
    } finally {
      await ownRig.close();
      await own.close();
    }
  });

  test.each<[string, () => void]>([
    [
      "that the code is not good",
      () => {
        issuer.answers.token = issuer.json(400, { error: "invalid_grant" });
      },
    ],
    [
      "that we are not its client",
      () => {
        issuer.answers.token = issuer.json(401, { error: "invalid_client" });
      },
    ],
    [
      "with something that is not JSON",
      () => {
        issuer.answers.token = { status: 200, body: "<html>" };
      },
    ],
    [
      "with a list",
      () => {
        issuer.answers.token = issuer.json(200, []);
      },
    ],
  ])("that says %s is refused", async (_name, prepare) => {
    const started = await start();
    prepare();
    await expectRefused(started);
  });

  // The code, the verifier and our secret are for the token endpoint alone.
  test.each([302, 307])(
    "that leads elsewhere by %d is refused, and not followed",
    async (status) => {
      const started = await start();
      const headers = { location: `${issuer.client.issuer}/elsewhere` };
      issuer.answers.token = { status, body: "", headers };
      const asked: string[] = [];
      const { beforeAnswer } = issuer.waits;
      issuer.waits.beforeAnswer = async (path) => void asked.push(path);
      try {
        await expectRefused(started);
      } finally {
        issuer.waits.beforeAnswer = beforeAnswer;
      }
      expect(asked).toEqual(["/token"]);
    },
  );

  test("is refused without a word of it in the log", async () => {
    const started = await start();
    const token = await issuer.sign({ ...issuer.claims(started.nonce, rig.clock.now()), aud: "x" });
    issuer.giveToken(token);
    await expectRefused(started);
    const log = rig.logLines.join("\n");
    expect(log).toContain('"method":"oidc","rule":"OAUTH_');
    const verifier = issuer.requests.at(-1)?.form.get("code_verifier") ?? "none";
    const { clientSecret = "none" } = issuer.client;
    for (const secret of [token, started.nonce, started.state, verifier, clientSecret, "made-up"]) {
      expect(log).not.toContain(secret);
    }
  });
});

/** Refused: no session, no account, and the state is used up. */
const expectRefused = async (started: Started): Promise<void> => {
  const before = await countAccounts();
  const answer = await comeBack(started);
  expect(refusalOf(answer)).toBe("401 OIDC_SIGN_IN_REFUSED");
  expect(answer.headers.get("set-cookie")).toBeNull();
  expect(await countAccounts()).toBe(before);
};
