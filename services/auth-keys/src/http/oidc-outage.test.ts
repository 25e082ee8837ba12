import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { cookieOf, openRig, refusalOf, type Rig } from "../testing/open-rig.ts";
import { type TamperingIssuer, openTamperingIssuer } from "../testing/tampering-issuer.ts";

const startPath = "/console/api/session/oidc";
const unavailable = "503 OIDC_ISSUER_UNAVAILABLE";

let issuer: TamperingIssuer;
let rig: Rig;
beforeEach(async () => {
  issuer = await openTamperingIssuer();
  rig = await openRig({ oidc: issuer.client });
});
afterEach(async () => {
  await rig.close();
  await issuer.close();
});

const start = () => rig.call("GET", startPath);

const countFailed = async (): Promise<number> => {
  const metric = await rig.metrics.getSingleMetric("payment_links_sign_ins_total")?.get();
  const found = metric?.values.find(
    ({ labels }) => labels["method"] === "oidc" && labels["outcome"] === "failed",
  );
  return found?.value ?? 0;
};

describe("an issuer that cannot be used", () => {
  test("answers 503, is left alone for a growing pause, and is found again by itself", async () => {
    issuer.answers.metadata = issuer.json(500, {});
    expect(refusalOf(await start())).toBe(unavailable);
    expect(await countFailed()).toBe(1);
    issuer.answers.metadata = undefined;
    rig.clock.advance(999);
    expect(refusalOf(await start())).toBe(unavailable);
    issuer.answers.metadata = issuer.json(500, {});
    rig.clock.advance(1);
    expect(refusalOf(await start())).toBe(unavailable);
    issuer.answers.metadata = undefined;
    rig.clock.advance(1_999);
    expect(refusalOf(await start())).toBe(unavailable);
    rig.clock.advance(1);
    expect((await start()).status).toBe(303);
  });

  test("is named in the log with what it did, once for each question", async () => {
    await issuer.close();
    await start();
    await start();
    const lines = rig.logLines.filter((line) => line.includes("cannot be used"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("does not answer (ECONNREFUSED)");
    issuer = await openTamperingIssuer();
  });

  test("after many failures is asked again within a minute", async () => {
    issuer.answers.metadata = issuer.json(500, {});
    for (let count = 0; count < 10; count += 1) {
      expect(refusalOf(await start())).toBe(unavailable);
      rig.clock.advance(60_000);
    }
    issuer.answers.metadata = undefined;
    expect((await start()).status).toBe(303);
  });

  test("once known, is not asked for an hour what it says of itself", async () => {
    expect((await start()).status).toBe(303);
    issuer.answers.metadata = issuer.json(500, {});
    rig.clock.advance(60 * 60 * 1000 - 1);
    expect((await start()).status).toBe(303);
    rig.clock.advance(1);
    expect(refusalOf(await start())).toBe(unavailable);
  });

  test.each<[string, (right: TamperingIssuer["metadata"]) => object]>([
    ["another's name", (right) => ({ ...right, issuer: "https://evil.example" })],
    ["no keys", ({ jwks_uri: _keys, ...rest }) => rest],
    ["no place to sign in at", ({ authorization_endpoint: _place, ...rest }) => rest],
  ])("as it says of itself %s, answers 503", async (_name, change) => {
    issuer.answers.metadata = issuer.json(200, change(issuer.metadata));
    expect(refusalOf(await start())).toBe(unavailable);
  });

  test("as it talks without end, answers 503", async () => {
    issuer.answers.metadata = issuer.json(200, { ...issuer.metadata, more: "x".repeat(300_000) });
    expect(refusalOf(await start())).toBe(unavailable);
  });

  test("when a browser comes back from it, answers 503 and signs nobody in", async () => {
    const failures = [
      ["token", 500],
      ["token", 429],
      ["keys", 503],
    ] as const;
    for (const [failing, status] of failures) {
      const started = await start();
      const asked = new URL(started.headers.get("location") ?? "").searchParams;
      issuer.giveToken(await issuer.sign(issuer.claims(asked.get("nonce") ?? "", rig.clock.now())));
      issuer.answers[failing] = issuer.json(status, {});
      const back = `${startPath}/callback?code=c&state=${asked.get("state")}`;
      const answer = await rig.call("GET", back, { cookie: cookieOf(started.headers) });
      expect(refusalOf(answer)).toBe(unavailable);
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
    expect(await countFailed()).toBe(failures.length);
  });

  test("that takes the question and says nothing is given up", async () => {
    const started = await start();
    const asked = new URL(started.headers.get("location") ?? "").searchParams;
    issuer.answers.token = undefined;
    const back = `${startPath}/callback?code=c&state=${asked.get("state")}`;
    const answer = await rig.call("GET", back, { cookie: cookieOf(started.headers) });
    expect(refusalOf(answer)).toBe(unavailable);
  });

  test("leads a person back to the console, which says so", async () => {
    issuer.answers.metadata = issuer.json(500, {});
    const answer = await rig.call("GET", startPath, { headers: { accept: "text/html" } });
    expect([answer.status, answer.headers.get("location")]).toEqual([
      303,
      "http://127.0.0.1:8080/console?error=OIDC_ISSUER_UNAVAILABLE",
    ]);
  });
});

describe("a person who asks too often", () => {
  test("is told so, and not led about", async () => {
    const limited = await openRig({ oidc: issuer.client, ipBurst: 1 });
    try {
      const headers = { accept: "text/html" };
      expect((await limited.call("GET", startPath, { headers })).status).toBe(303);
      const answer = await limited.call("GET", startPath, { headers });
      expect(refusalOf(answer)).toBe("429 429");
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    } finally {
      await limited.close();
    }
  });
});

describe("a process without an issuer", () => {
  test("answers 404 and offers the other ways", async () => {
    const own = await openRig();
    try {
      for (const path of [startPath, `${startPath}/callback?code=c&state=s`]) {
        expect(refusalOf(await own.call("GET", path))).toBe("404 SIGN_IN_METHOD_UNAVAILABLE");
      }
      const { body } = await own.call("GET", "/console/api/session/methods");
      expect(body["methods"]).toEqual(["link", "siwe"]);
    } finally {
      await own.close();
    }
  });

  test("with one offers all three", async () => {
    const { body } = await rig.call("GET", "/console/api/session/methods");
    expect(body["methods"]).toEqual(["link", "siwe", "oidc"]);
  });
});
