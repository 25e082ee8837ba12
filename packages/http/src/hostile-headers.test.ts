import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mintApiKey } from "@payment-links/contracts";
import { keyRoute, sessionRoute } from "./route.ts";
import { callRaw } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

const key = mintApiKey("live");
const other = mintApiKey("live");

const routes = [
  keyRoute({
    method: "get",
    path: "/",
    scope: "payment_link:read",
    handle: (_req, res) => void res.json({}),
  }),
  sessionRoute({ method: "get", path: "/console", handle: (_req, res) => void res.json({}) }),
];

let app: StartedApp;
let proxied: StartedApp;
beforeAll(async () => {
  const scopes = ["payment_link:read"];
  const holders = { [key]: { scopes }, [other]: { scopes }, "a session": {} };
  app = await startApp({ routes, holders });
  proxied = await startApp({ routes, holders, trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"] });
});
afterAll(() => Promise.all([app.close(), proxied.close()]));

/** Sends header lines as they are, as no client library would, and answers status and codes. */
const send = async ({ port }: StartedApp, lines: readonly string[], path = "/") => {
  const head = [`GET ${path} HTTP/1.1`, "Host: a", "Connection: close", ...lines];
  const text = await callRaw(port, `${head.join("\r\n")}\r\n\r\n`);
  const codes = [...text.matchAll(/"code":"(\w+)"/g)].map(([, code]) => code);
  return [text.split(" ", 2)[1], ...codes].join(" ");
};

describe("an API key's header", () => {
  test.each([
    ["two different keys", [`X-API-Key: ${key}`, `X-API-Key: ${other}`]],
    ["one key twice", [`X-API-Key: ${key}`, `x-api-key: ${key}`]],
    ["a key and an empty one", [`X-API-Key: ${key}`, "X-API-Key:"]],
    ["two keys in one line", [`X-API-Key: ${key}, ${other}`]],
    ["two keys with a semicolon", [`X-API-Key: ${key};${other}`]],
    ["a key in quotes", [`X-API-Key: "${key}"`]],
    ["a scheme before the key", [`X-API-Key: Bearer ${key}`]],
    ["a thousand keys", [`X-API-Key: ${Array.from({ length: 300 }, () => key).join(",")}`]],
    ["bytes beyond ASCII", [`X-API-Key: ${key}\u00e9`]],
    ["a tab within", [`X-API-Key: ${key.slice(0, 20)}\t${key.slice(20)}`]],
    ["13 KB", [`X-API-Key: ${"k".repeat(13_000)}`]],
  ])("%s is no key", async (_name, lines) => {
    expect(await send(app, lines)).toBe("401 INVALID_API_KEY");
  });

  test("blanks around a key are no part of it", async () => {
    expect(await send(app, [`X-API-Key: \t ${key}  `])).toBe("200");
  });

  test.each([
    ["nothing", ["X-API-Key:"]],
    ["blanks", ["X-API-Key:   \t "]],
    ["another name", [`X-Api-Keys: ${key}`, `Authorization: ${key}`, `Cookie: x-api-key=${key}`]],
  ])("given %s, the caller is nobody", async (_name, lines) => {
    expect(await send(app, lines)).toBe("401 UNAUTHENTICATED");
  });

  test.each([
    ["100 KB", `X-API-Key: ${"k".repeat(100_000)}`, "431 REQUEST_HEADERS_TOO_LARGE"],
    ["a NUL", `X-API-Key: ${key}\0`, "400 BAD_REQUEST"],
    ["a bare line feed", `X-API-Key: ${key}\n X: y`, "400 BAD_REQUEST"],
    ["a folded line", `X-API-Key: ${key}\r\n ${key}`, "400 BAD_REQUEST"],
  ])("%s ends the request before anything is asked", async (_name, line, answer) => {
    const [asked, charged] = [app.asked(), app.charged.length];
    expect(await send(app, [line])).toBe(answer);
    expect([app.asked(), app.charged.length]).toEqual([asked, charged]);
  });
});

describe("a session's cookie", () => {
  test.each([
    ["100 KB", `Cookie: session=${"s".repeat(100_000)}`, "431 REQUEST_HEADERS_TOO_LARGE"],
    ["10 KB", `Cookie: session=${"s".repeat(10_000)}`, "401 UNAUTHENTICATED"],
    ["what does not decode", "Cookie: session=%E0%A4%A", "401 UNAUTHENTICATED"],
    ["no pair", "Cookie: ;;;=;session", "401 UNAUTHENTICATED"],
    ["a name of every object", "Cookie: __proto__=x; constructor=y", "401 UNAUTHENTICATED"],
  ])("of %s is refused", async (_name, line, answer) => {
    expect(await send(app, [line], "/console")).toBe(answer);
  });
});

describe("a forged X-Forwarded-For", () => {
  const forged = [
    "6.6.6.6",
    "127.0.0.1",
    "::1",
    "unknown",
    "fe80::1%eth0",
    "1.2.3.4:80",
    "[2001:db8::1]:443",
    "::ffff:6.6.6.6",
    "999.1.1.1",
    "' OR 1=1 --",
    "__proto__",
    `${"1.1.1.1, ".repeat(1_000)}2.2.2.2`,
    "\u00e9",
    ",",
  ];

  test.each(forged)("%j changes nothing where no proxy is trusted", async (value) => {
    app.charged.length = 0;
    expect(await send(app, [`X-Forwarded-For: ${value}`])).toBe("401 UNAUTHENTICATED");
    expect(app.charged).toEqual([["ip 127.0.0.1"]]);
  });

  test.each([
    ["6.6.6.6, unknown", "no-address"],
    ["6.6.6.6, fe80::1%eth0", "fe80:0:0:0::/64"],
    ["6.6.6.6, 1.2.3.4:80", "no-address"],
    ["6.6.6.6, [2001:db8::1]:443", "no-address"],
    ["6.6.6.6, ::ffff:9.9.9.9", "9.9.9.9"],
    ["6.6.6.6, ::ffff:909:909", "9.9.9.9"],
    ["6.6.6.6, 999.1.1.1", "no-address"],
    ["6.6.6.6, 0x7f.1", "no-address"],
    ["6.6.6.6, __proto__", "no-address"],
    ["6.6.6.6, 9.9.9.9, ::ffff:10.1.2.3", "9.9.9.9"],
    [`${"6.6.6.6, ".repeat(1_000)}9.9.9.9`, "9.9.9.9"],
  ])("%j, from a trusted proxy, counts under what that proxy saw", async (value, counted) => {
    proxied.charged.length = 0;
    expect(await send(proxied, [`X-Forwarded-For: ${value}`])).toBe("401 UNAUTHENTICATED");
    expect(proxied.charged).toEqual([[`ip ${counted}`]]);
  });

  test("on several lines, the last line is the nearest proxy's", async () => {
    proxied.charged.length = 0;
    await send(proxied, ["X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 9.9.9.9"]);
    expect(proxied.charged).toEqual([["ip 9.9.9.9"]]);
  });
});
