import { describe, expect, test } from "@jest/globals";
import type { Request } from "express";
import { Refusal } from "@payment-links/contracts";
import {
  cookiePolicy,
  endedSessionCookies,
  isInsecureOrigin,
  readSessionToken,
  refuseOtherSites,
  sessionCookies,
  sessionPaths,
} from "./session-cookie.ts";

const https = cookiePolicy("https://pay.example");
const http = cookiePolicy("http://127.0.0.1:8080");

/** As much of a request as these functions look at. */
const request = (headers: Record<string, string>, method = "GET") =>
  ({ headers, method }) as unknown as Request;

const tokens = {
  "auth-keys": "a token",
  "links-api": "links",
  "webhook-dispatcher": "webhooks",
  host: "host",
};

describe("the session cookie (rule CALLER-8)", () => {
  test("on https is secure, out of the reach of scripts, and bound to the host by another", () => {
    const lines = sessionCookies(https, tokens, 3600);
    expect(lines[0]).toBe(
      "__Secure-session=a%20token; Max-Age=3600; Path=/console/api/session; HttpOnly; Secure; SameSite=Lax",
    );
    expect(lines.at(-1)).toBe(
      "__Host-session=host; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Lax",
    );
  });

  test("on a loopback http origin is the same under other names, and not secure", () => {
    const lines = sessionCookies(http, tokens, 3600);
    expect(lines[0]).toBe(
      "session=a%20token; Max-Age=3600; Path=/console/api/session; HttpOnly; SameSite=Lax",
    );
    expect(lines.filter((line) => /host|secure/i.test(line))).toEqual([]);
  });

  test("is another for each service, at its own paths alone (rule CALLER-40)", () => {
    const paths = new Map<string, string[]>();
    for (const line of sessionCookies(http, tokens, 1)) {
      const [pair = "", , path = ""] = line.split("; ");
      paths.set(pair, [...(paths.get(pair) ?? []), path.replace("Path=", "")]);
    }
    expect([...paths]).toEqual([
      ["session=a%20token", sessionPaths["auth-keys"]],
      ["session-links=links", sessionPaths["links-api"]],
      ["session-webhooks=webhooks", sessionPaths["webhook-dispatcher"]],
    ]);
  });

  test("with no time ends the session in the browser, at every path", () => {
    const lines = endedSessionCookies(https);
    expect(lines.length).toBe(sessionCookies(https, tokens, 1).length);
    for (const line of lines) expect(line).toMatch(/^[\w-]+=; Max-Age=0; Path=\//);
  });

  test("reads back the token that it was given", () => {
    for (const token of ["plain", 'a b;c=d,e"f', "é😀", "100%"]) {
      const set = sessionCookies(https, { ...tokens, "auth-keys": token }, 1);
      const cookie = [set[0], set.at(-1)].map((line) => line?.split(";")[0]).join("; ");
      expect(readSessionToken(request({ cookie }), https)).toBe(`host.${token}`);
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
    expect(readSessionToken(request({ cookie }), https)).toBe(token);
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
    expect(readSessionToken(request(headers), http)).toBe(token);
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
