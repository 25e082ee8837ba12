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

/** As much of a request as these functions look at. */
const createRequest = (headers: Record<string, string>, method = "GET") =>
  ({ headers, method }) as unknown as Request;

const tokens = {
  "auth-keys": "a token",
  "links-api": "links",
  "webhook-dispatcher": "webhooks",
  host: "host",
};

describe("the session cookie (rule CALLER-8)", () => {
  test("on https is secure, out of the reach of scripts, and bound to the host by another", () => {
    const cookieLines = serializeSessionCookies(httpsPolicy, tokens, 3600);
    expect(cookieLines[0]).toBe(
      "__Secure-session=a%20token; Max-Age=3600; Path=/console/api/session; HttpOnly; Secure; SameSite=Lax",
    );
    expect(cookieLines.at(-1)).toBe(
      "__Host-session=host; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Lax",
    );
  });

  test("on a loopback http origin is the same under other names, and not secure", () => {
    const cookieLines = serializeSessionCookies(httpPolicy, tokens, 3600);
    expect(cookieLines[0]).toBe(
      "session=a%20token; Max-Age=3600; Path=/console/api/session; HttpOnly; SameSite=Lax",
    );
    expect(cookieLines.filter((cookieLine) => /host|secure/i.test(cookieLine))).toEqual([]);
  });

  test("is another for each service, at its own paths alone (rule CALLER-40)", () => {
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

  test("with no time ends the session in the browser, at every path", () => {
    const cookieLines = serializeExpiredSessionCookies(httpsPolicy);
    expect(cookieLines.length).toBe(serializeSessionCookies(httpsPolicy, tokens, 1).length);
    for (const cookieLine of cookieLines)
      expect(cookieLine).toMatch(/^[\w-]+=; Max-Age=0; Path=\//);
  });

  test("reads back the token that it was given", () => {
    for (const token of ["plain", 'a b;c=d,e"f', "é😀", "100%"]) {
      const setCookies = serializeSessionCookies(httpsPolicy, { ...tokens, "auth-keys": token }, 1);
      const cookie = [setCookies[0], setCookies.at(-1)]
        .map((cookieLine) => cookieLine?.split(";")[0])
        .join("; ");
      expect(readSessionToken(createRequest({ cookie }), httpsPolicy)).toBe(`host.${token}`);
    }
  });

  test.each([
    ["the host's cookie alone", "__Host-session=h", undefined],
    [
      "the service's alone, as another host of the domain can set it",
      "__Secure-session=t",
      undefined,
    ],
    ["both", "__Secure-session=t; __Host-session=h", "h.t"],
    ["another service's", "__Secure-session-links=t; __Host-session=h", undefined],
    ["the http names", "session=t; __Host-session=h", undefined],
    ["another case", "__secure-session=t; __host-session=h", undefined],
  ])("on https, given %s", (_name, cookie, token) => {
    expect(readSessionToken(createRequest({ cookie }), httpsPolicy)).toBe(token);
  });

  test.each([
    ["none", undefined, undefined],
    ["an empty header", "", undefined],
    ["another cookie", "theme=dark", undefined],
    ["it between others", "a=b; session=t; c=d", "t"],
    ["it twice: the first", "session=t; session=u", "t"],
    ["the https name", "__Secure-session=t", undefined],
    ["another case", "Session=t", undefined],
    ["a name of every object", "toString=t; __proto__=t", undefined],
    ["a broken escape, as it stands", "session=%zz", "%zz"],
    ["no equals sign", "session", undefined],
    ["16 kB of semicolons", ";".repeat(16_000), undefined],
    ["3000 cookies before it", `${"a=b;".repeat(3000)}session=t`, "t"],
  ])("given %s", (_name, cookie, token) => {
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
    // Fetch Metadata decides if it is sent: a page cannot forge it.
    [{ "sec-fetch-site": "same-origin" }, "accepted", "accepted"],
    [{ "sec-fetch-site": "same-origin", origin: ownOrigin }, "accepted", "accepted"],
    // So a form of ours says it, because our pages send no referrer.
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
    // Without it, the origin does.
    [{ origin: ownOrigin }, "accepted", "accepted"],
    [{ origin: foreignOrigin }, rejection, rejection],
    [{ origin: "null" }, rejection, rejection],
    [{ origin: "http://pay.example" }, rejection, rejection],
    [{ origin: "https://pay.example:8443" }, rejection, rejection],
    [{ origin: "https://pay.example.evil.example" }, rejection, rejection],
    [{ origin: "" }, rejection, rejection],
    // A client that is no browser sends neither.
    [{}, "accepted", "accepted"],
  ])("%j: reading is %s, changing is %s", (headers, readResult, writeResult) => {
    for (const method of ["GET", "HEAD"])
      expect([method, getResult(headers, method)]).toEqual([method, readResult]);
    for (const method of ["POST", "PATCH", "DELETE", "PUT"]) {
      expect([method, getResult(headers, method)]).toEqual([method, writeResult]);
    }
  });

  test("is held against the origin alone, whatever path the base URL has", () => {
    const policy = createCookiePolicy("https://PAY.example:443/base");
    expect(() =>
      rejectCrossSiteRequest(createRequest({ origin: ownOrigin }, "POST"), policy),
    ).not.toThrow();
  });
});
