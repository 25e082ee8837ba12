import { describe, expect, test } from "@jest/globals";
import type { Request } from "express";
import { ApiError } from "@payment-links/contracts";
import {
  createCookiePolicy,
  serializeExpiredSessionCookies,
  isInsecureOrigin,
  readSessionToken,
  rejectCrossSiteRequest,
  serializeSessionCookies,
  sessionCookiePaths,
} from "./session-cookie.ts";

const httpsPolicy = createCookiePolicy("https://pay.example");
const httpPolicy = createCookiePolicy("http://127.0.0.1:8080");

/** Creates the parts of a request that the tested functions use. */
const createRequest = (headers: Record<string, string>, method = "GET") =>
  ({ headers, method }) as unknown as Request;

const tokens = {
  "auth-keys": "a token",
  "links-api": "links",
  "webhook-dispatcher": "webhooks",
  host: "host",
};

describe("the session cookie (rule CALLER-8)", () => {
  test("on https is secure, not readable by scripts, and bound to the host by a second cookie", () => {
    const cookieLines = serializeSessionCookies(httpsPolicy, tokens, 3600);
    expect(cookieLines[0]).toBe(
      "__Secure-session=a%20token; Max-Age=3600; Path=/console/api/session; HttpOnly; Secure; SameSite=Lax",
    );
    expect(cookieLines.at(-1)).toBe(
      "__Host-session=host; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Lax",
    );
  });

  test("on a loopback http origin has other names and is not secure", () => {
    const cookieLines = serializeSessionCookies(httpPolicy, tokens, 3600);
    expect(cookieLines[0]).toBe(
      "session=a%20token; Max-Age=3600; Path=/console/api/session; HttpOnly; SameSite=Lax",
    );
    expect(cookieLines.filter((cookieLine) => /host|secure/i.test(cookieLine))).toEqual([]);
  });

  test("differs for each service and covers only that service's paths (rule CALLER-40)", () => {
    const paths = new Map<string, string[]>();
    for (const cookieLine of serializeSessionCookies(httpPolicy, tokens, 1)) {
      const [pair = "", , path = ""] = cookieLine.split("; ");
      paths.set(pair, [...(paths.get(pair) ?? []), path.replace("Path=", "")]);
    }
    expect([...paths]).toEqual([
      ["session=a%20token", sessionCookiePaths["auth-keys"]],
      ["session-links=links", sessionCookiePaths["links-api"]],
      ["session-webhooks=webhooks", sessionCookiePaths["webhook-dispatcher"]],
    ]);
  });

  test("is the only cookie that is decoded, because invalid encodings are expensive", () => {
    const decode = globalThis.decodeURIComponent;
    let decodedCount = 0;
    globalThis.decodeURIComponent = (text) => {
      decodedCount += 1;
      return decode(text);
    };
    const otherCookies = Array.from({ length: 1_000 }, (_, index) => `c${index}=%;`).join("");
    const req = createRequest({ cookie: `${otherCookies} session=a%20token` });
    try {
      expect(readSessionToken(req, httpPolicy)).toBe("a token");
      expect(decodedCount).toBe(1);
    } finally {
      globalThis.decodeURIComponent = decode;
    }
  });

  test("with no lifetime ends the session in the browser, on every path", () => {
    const cookieLines = serializeExpiredSessionCookies(httpsPolicy);
    expect(cookieLines.length).toBe(serializeSessionCookies(httpsPolicy, tokens, 1).length);
    for (const cookieLine of cookieLines)
      expect(cookieLine).toMatch(/^[\w-]+=; Max-Age=0; Path=\//);
  });

  test("can be read back unchanged", () => {
    for (const token of ["plain", 'a b;c=d,e"f', "é😀", "100%"]) {
      const setCookies = serializeSessionCookies(httpsPolicy, { ...tokens, "auth-keys": token }, 1);
      const cookie = [setCookies[0], setCookies.at(-1)]
        .map((cookieLine) => cookieLine?.split(";")[0])
        .join("; ");
      expect(readSessionToken(createRequest({ cookie }), httpsPolicy)).toBe(`host.${token}`);
    }
  });

  test.each([
    ["only the host's cookie", "__Host-session=h", undefined],
    [
      "only the service's cookie, which another host of the domain can set",
      "__Secure-session=t",
      undefined,
    ],
    ["both", "__Secure-session=t; __Host-session=h", "h.t"],
    ["another service's cookie", "__Secure-session-links=t; __Host-session=h", undefined],
    ["the http names", "session=t; __Host-session=h", undefined],
    ["names in another case", "__secure-session=t; __host-session=h", undefined],
  ])("on https, returns the right token for %s", (_name, cookie, token) => {
    expect(readSessionToken(createRequest({ cookie }), httpsPolicy)).toBe(token);
  });

  test.each([
    ["no cookie header", undefined, undefined],
    ["an empty header", "", undefined],
    ["another cookie", "theme=dark", undefined],
    ["the cookie between others", "a=b; session=t; c=d", "t"],
    ["the cookie twice (the first one wins)", "session=t; session=u", "t"],
    ["the https name", "__Secure-session=t", undefined],
    ["a name in another case", "Session=t", undefined],
    ["names of prototype properties", "toString=t; __proto__=t", undefined],
    ["a broken escape (returned unchanged)", "session=%zz", "%zz"],
    ["no equals sign", "session", undefined],
    ["16 kB of semicolons", ";".repeat(16_000), undefined],
    ["3000 cookies before it", `${"a=b;".repeat(3000)}session=t`, "t"],
  ])("on http, returns the right token for %s", (_name, cookie, token) => {
    const headers = cookie === undefined ? {} : { cookie };
    expect(readSessionToken(createRequest(headers), httpPolicy)).toBe(token);
  });
});

describe("isInsecureOrigin (rule CALLER-8)", () => {
  test.each([
    ["https://pay.example", false],
    ["http://localhost:8080", false],
    ["http://127.0.0.1", false],
    ["http://[::1]:8080", false],
    ["http://pay.example", true],
    ["http://10.0.0.1", true],
    ["http://localhost.evil.example", true],
    ["http://127.0.0.1.evil.example", true],
    ["http://0.0.0.0:8080", true],
  ])("%s: %s", (baseUrl, isInsecure) => {
    expect(isInsecureOrigin(baseUrl)).toBe(isInsecure);
  });
});

describe("a request from a browser (rule CALLER-6)", () => {
  const getResult = (headers: Record<string, string>, method: string): string => {
    try {
      rejectCrossSiteRequest(createRequest(headers, method), httpsPolicy);
      return "accepted";
    } catch (error) {
      return error instanceof ApiError ? `${error.status} ${error.message}` : String(error);
    }
  };
  const rejection = "403 CROSS_SITE_REQUEST";
  const ownOrigin = "https://pay.example";
  const foreignOrigin = "https://evil.example";

  test.each([
    // If Fetch Metadata headers are present, they decide, because a page cannot forge them.
    [{ "sec-fetch-site": "same-origin" }, "accepted", "accepted"],
    [{ "sec-fetch-site": "same-origin", origin: ownOrigin }, "accepted", "accepted"],
    // Our own forms send `Origin: null`, because our pages do not send a referrer.
    [{ "sec-fetch-site": "same-origin", origin: "null" }, "accepted", "accepted"],
    [{ "sec-fetch-site": "none" }, "accepted", rejection],
    [{ "sec-fetch-site": "same-site", origin: "https://other.pay.example" }, rejection, rejection],
    [{ "sec-fetch-site": "same-site" }, rejection, rejection],
    [{ "sec-fetch-site": "cross-site", origin: foreignOrigin }, rejection, rejection],
    [{ "sec-fetch-site": "cross-site", origin: ownOrigin }, rejection, rejection],
    [{ "sec-fetch-site": "cross-site" }, rejection, rejection],
    [{ "sec-fetch-site": "Same-Origin" }, rejection, rejection],
    [{ "sec-fetch-site": "same-origin, cross-site" }, rejection, rejection],
    [{ "sec-fetch-site": "" }, rejection, rejection],
    // Without Fetch Metadata headers, the origin decides.
    [{ origin: ownOrigin }, "accepted", "accepted"],
    [{ origin: foreignOrigin }, rejection, rejection],
    [{ origin: "null" }, rejection, rejection],
    [{ origin: "http://pay.example" }, rejection, rejection],
    [{ origin: "https://pay.example:8443" }, rejection, rejection],
    [{ origin: "https://pay.example.evil.example" }, rejection, rejection],
    [{ origin: "" }, rejection, rejection],
    // A client that is not a browser sends neither header.
    [{}, "accepted", "accepted"],
  ])("%j: reading is %s, changing is %s", (headers, readResult, writeResult) => {
    for (const method of ["GET", "HEAD"])
      expect([method, getResult(headers, method)]).toEqual([method, readResult]);
    for (const method of ["POST", "PATCH", "DELETE", "PUT"]) {
      expect([method, getResult(headers, method)]).toEqual([method, writeResult]);
    }
  });

  test("is checked against the origin only, whatever path the base URL has", () => {
    const policy = createCookiePolicy("https://PAY.example:443/base");
    expect(() =>
      rejectCrossSiteRequest(createRequest({ origin: ownOrigin }, "POST"), policy),
    ).not.toThrow();
  });
});
