import { describe, expect, test } from "@jest/globals";
import type { Request } from "express";
import { Refusal } from "@payment-links/contracts";
import {
  cookiePolicy,
  isInsecureOrigin,
  readSessionToken,
  refuseOtherSites,
  sessionCookie,
} from "./session-cookie.ts";

const https = cookiePolicy("https://pay.example");
const http = cookiePolicy("http://127.0.0.1:8080");

/** As much of a request as these functions look at. */
const request = (headers: Record<string, string>, method = "GET") =>
  ({ headers, method }) as unknown as Request;

describe("the session cookie (rule CALLER-8)", () => {
  test("on https is bound to the host, secure, and out of the reach of scripts", () => {
    expect(sessionCookie(https, "a token", 3600)).toBe(
      "__Host-session=a%20token; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Lax",
    );
  });

  test("on a loopback http origin is the same under another name, and not secure", () => {
    expect(sessionCookie(http, "token", 3600)).toBe(
      "session=token; Max-Age=3600; Path=/; HttpOnly; SameSite=Lax",
    );
  });

  test("with an empty token and no time ends the session in the browser", () => {
    expect(sessionCookie(https, "", 0)).toMatch(/^__Host-session=; Max-Age=0; Path=\/;/);
  });

  test("reads back the token that it was given", () => {
    for (const token of ["plain", 'a b;c=d,e"f', "é😀", "100%"]) {
      const cookie = sessionCookie(https, token, 1).split(";")[0] ?? "";
      expect(readSessionToken(request({ cookie }), https)).toBe(token);
    }
  });

  test.each([
    ["none", undefined, undefined],
    ["an empty header", "", undefined],
    ["another cookie", "theme=dark", undefined],
    ["it between others", "a=b; __Host-session=t; c=d", "t"],
    ["it twice: the first", "__Host-session=t; __Host-session=u", "t"],
    ["the http name", "session=t", undefined],
    ["another case", "__host-session=t", undefined],
    ["a name of every object", "toString=t; __proto__=t", undefined],
    ["a broken escape, as it stands", "__Host-session=%zz", "%zz"],
    ["no equals sign", "__Host-session", undefined],
    ["16 kB of semicolons", ";".repeat(16_000), undefined],
    ["3000 cookies before it", `${"a=b;".repeat(3000)}__Host-session=t`, "t"],
  ])("given %s", (_name, cookie, token) => {
    const headers = cookie === undefined ? {} : { cookie };
    expect(readSessionToken(request(headers), https)).toBe(token);
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
  const codeOf = (headers: Record<string, string>, method: string): string => {
    try {
      refuseOtherSites(request(headers, method), https);
      return "accepted";
    } catch (error) {
      return error instanceof Refusal ? `${error.status} ${error.message}` : String(error);
    }
  };
  const refused = "403 CROSS_SITE_REQUEST";
  const own = "https://pay.example";
  const evil = "https://evil.example";

  test.each([
    // Fetch Metadata decides if it is sent: a page cannot forge it.
    [{ "sec-fetch-site": "same-origin" }, "accepted", "accepted"],
    [{ "sec-fetch-site": "same-origin", origin: own }, "accepted", "accepted"],
    // So a form of ours says it, because our pages send no referrer.
    [{ "sec-fetch-site": "same-origin", origin: "null" }, "accepted", "accepted"],
    [{ "sec-fetch-site": "none" }, "accepted", refused],
    [{ "sec-fetch-site": "same-site", origin: "https://other.pay.example" }, refused, refused],
    [{ "sec-fetch-site": "same-site" }, refused, refused],
    [{ "sec-fetch-site": "cross-site", origin: evil }, refused, refused],
    [{ "sec-fetch-site": "cross-site", origin: own }, refused, refused],
    [{ "sec-fetch-site": "cross-site" }, refused, refused],
    [{ "sec-fetch-site": "Same-Origin" }, refused, refused],
    [{ "sec-fetch-site": "same-origin, cross-site" }, refused, refused],
    [{ "sec-fetch-site": "" }, refused, refused],
    // Without it, the origin does.
    [{ origin: own }, "accepted", "accepted"],
    [{ origin: evil }, refused, refused],
    [{ origin: "null" }, refused, refused],
    [{ origin: "http://pay.example" }, refused, refused],
    [{ origin: "https://pay.example:8443" }, refused, refused],
    [{ origin: "https://pay.example.evil.example" }, refused, refused],
    [{ origin: "" }, refused, refused],
    // A client that is no browser sends neither.
    [{}, "accepted", "accepted"],
  ])("%j: reading is %s, changing is %s", (headers, reading, changing) => {
    for (const method of ["GET", "HEAD"])
      expect([method, codeOf(headers, method)]).toEqual([method, reading]);
    for (const method of ["POST", "PATCH", "DELETE", "PUT"]) {
      expect([method, codeOf(headers, method)]).toEqual([method, changing]);
    }
  });

  test("is held against the origin alone, whatever path the base URL has", () => {
    const policy = cookiePolicy("https://PAY.example:443/base");
    expect(() => refuseOtherSites(request({ origin: own }, "POST"), policy)).not.toThrow();
  });
});
