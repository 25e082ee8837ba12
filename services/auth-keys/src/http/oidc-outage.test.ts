import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { getCookies, createRig, summarizeResponse, type Rig } from "../testing/create-rig.ts";
import { type TamperingIssuer, startTamperingIssuer } from "../testing/tampering-issuer.ts";

const startPath = "/console/api/session/oidc";
const unavailable = "503 OIDC_ISSUER_UNAVAILABLE";

let issuer: TamperingIssuer;
let rig: Rig;
beforeEach(async () => {
  issuer = await startTamperingIssuer();
  rig = await createRig({ oidc: issuer.client });
});
afterEach(async () => {
  await rig.close();
  await issuer.close();
});

const startSignIn = () => rig.call("GET", startPath);

const countFailed = async (): Promise<number> => {
  const metric = await rig.metrics.getSingleMetric("payment_links_sign_ins_total")?.get();
  const failedValue = metric?.values.find(
    ({ labels }) => labels["method"] === "oidc" && labels["outcome"] === "failed",
  );
  return failedValue?.value ?? 0;
};

describe("an unusable issuer", () => {
  test("causes 503 and a growing pause between requests to it, and is used again once it recovers", async () => {
    issuer.responses.metadata = issuer.createJsonResponse(500, {});
    expect(summarizeResponse(await startSignIn())).toBe(unavailable);
    expect(await countFailed()).toBe(1);
    issuer.responses.metadata = undefined;
    rig.clock.advance(999);
    expect(summarizeResponse(await startSignIn())).toBe(unavailable);
    issuer.responses.metadata = issuer.createJsonResponse(500, {});
    rig.clock.advance(1);
    expect(summarizeResponse(await startSignIn())).toBe(unavailable);
    issuer.responses.metadata = undefined;
    rig.clock.advance(1_999);
    expect(summarizeResponse(await startSignIn())).toBe(unavailable);
    rig.clock.advance(1);
    expect((await startSignIn()).status).toBe(303);
  });

  test("is logged with its error, once per request to it", async () => {
    await issuer.close();
    await startSignIn();
    await startSignIn();
    const lines = rig.logLines.filter((line) => line.includes("identity provider unavailable"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("does not respond (ECONNREFUSED)");
    issuer = await startTamperingIssuer();
  });

  test("is requested again within a minute even after many failures", async () => {
    issuer.responses.metadata = issuer.createJsonResponse(500, {});
    for (let count = 0; count < 10; count += 1) {
      expect(summarizeResponse(await startSignIn())).toBe(unavailable);
      rig.clock.advance(60_000);
    }
    issuer.responses.metadata = undefined;
    expect((await startSignIn()).status).toBe(303);
  });

  test("is not asked for its metadata again for an hour", async () => {
    expect((await startSignIn()).status).toBe(303);
    issuer.responses.metadata = issuer.createJsonResponse(500, {});
    rig.clock.advance(60 * 60 * 1000 - 1);
    expect((await startSignIn()).status).toBe(303);
    rig.clock.advance(1);
    expect(summarizeResponse(await startSignIn())).toBe(unavailable);
  });

  test.each<[string, (metadata: TamperingIssuer["metadata"]) => object]>([
    ["the name of another issuer", (metadata) => ({ ...metadata, issuer: "https://evil.example" })],
    ["no keys", ({ jwks_uri: _keys, ...remainingMetadata }) => remainingMetadata],
    [
      "no authorization endpoint",
      ({ authorization_endpoint: _authorizationEndpoint, ...remainingMetadata }) =>
        remainingMetadata,
    ],
  ])("causes 503 if its metadata has %s", async (_name, tamper) => {
    issuer.responses.metadata = issuer.createJsonResponse(200, tamper(issuer.metadata));
    expect(summarizeResponse(await startSignIn())).toBe(unavailable);
  });

  test("causes 503 if its metadata is too long", async () => {
    issuer.responses.metadata = issuer.createJsonResponse(200, {
      ...issuer.metadata,
      more: "x".repeat(300_000),
    });
    expect(summarizeResponse(await startSignIn())).toBe(unavailable);
  });

  test("causes 503 and no session when a browser returns from it", async () => {
    const failures = [
      ["token", 500],
      ["token", 429],
      ["keys", 503],
    ] as const;
    for (const [failingEndpoint, status] of failures) {
      const startResponse = await startSignIn();
      const authorizationParams = new URL(startResponse.headers.get("location") ?? "").searchParams;
      issuer.setTokenResponse(
        await issuer.signToken(
          issuer.claims(authorizationParams.get("nonce") ?? "", rig.clock.now()),
        ),
      );
      issuer.responses[failingEndpoint] = issuer.createJsonResponse(status, {});
      const callbackPath = `${startPath}/callback?code=c&state=${authorizationParams.get("state")}`;
      const response = await rig.call("GET", callbackPath, {
        cookie: getCookies(startResponse.headers),
      });
      expect(summarizeResponse(response)).toBe(unavailable);
      expect(response.headers.get("set-cookie")).toBeNull();
    }
    expect(await countFailed()).toBe(failures.length);
  });

  test("is abandoned if it does not respond in time", async () => {
    const startResponse = await startSignIn();
    const authorizationParams = new URL(startResponse.headers.get("location") ?? "").searchParams;
    issuer.responses.token = undefined;
    const callbackPath = `${startPath}/callback?code=c&state=${authorizationParams.get("state")}`;
    const response = await rig.call("GET", callbackPath, {
      cookie: getCookies(startResponse.headers),
    });
    expect(summarizeResponse(response)).toBe(unavailable);
  });

  test("redirects a browser to the console with the error", async () => {
    issuer.responses.metadata = issuer.createJsonResponse(500, {});
    const response = await rig.call("GET", startPath, { headers: { accept: "text/html" } });
    expect([response.status, response.headers.get("location")]).toEqual([
      303,
      "http://127.0.0.1:8080/console?error=OIDC_ISSUER_UNAVAILABLE",
    ]);
  });
});

describe("a client over its rate limit", () => {
  test("gets 429 instead of a redirect", async () => {
    const limitedRig = await createRig({ oidc: issuer.client, ipBurst: 1 });
    try {
      const headers = { accept: "text/html" };
      expect((await limitedRig.call("GET", startPath, { headers })).status).toBe(303);
      const response = await limitedRig.call("GET", startPath, { headers });
      expect(summarizeResponse(response)).toBe("429 429");
      expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
    } finally {
      await limitedRig.close();
    }
  });
});

describe("a process without an issuer", () => {
  test("responds 404 and offers the other sign-in methods", async () => {
    const ownRig = await createRig();
    try {
      for (const path of [startPath, `${startPath}/callback?code=c&state=s`]) {
        expect(summarizeResponse(await ownRig.call("GET", path))).toBe(
          "404 SIGN_IN_METHOD_UNAVAILABLE",
        );
      }
      const { body } = await ownRig.call("GET", "/console/api/session/methods");
      expect(body["methods"]).toEqual(["link", "siwe"]);
    } finally {
      await ownRig.close();
    }
  });

  test("offers all three methods if it has an issuer", async () => {
    const { body } = await rig.call("GET", "/console/api/session/methods");
    expect(body["methods"]).toEqual(["link", "siwe", "oidc"]);
  });
});
