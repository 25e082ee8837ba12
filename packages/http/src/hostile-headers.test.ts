import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { generateApiKey } from "@payment-links/contracts";
import { keyRoute, sessionRoute } from "./route.ts";
import { sendRaw } from "./testing/client.ts";
import { type StartedApp, startApp } from "./testing/start-app.ts";

const apiKey = generateApiKey("live");
const otherKey = generateApiKey("live");

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
  const credentials = { [apiKey]: { scopes }, [otherKey]: { scopes }, "a session": {} };
  app = await startApp({ routes, credentials });
  proxied = await startApp({ routes, credentials, trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"] });
});
afterAll(() => Promise.all([app.close(), proxied.close()]));

/**
 * Sends header lines unchanged, which client libraries do not allow. Returns the status and error
 * codes.
 */
const sendRawHeaders = async ({ port }: StartedApp, headerLines: readonly string[], path = "/") => {
  const requestHead = [`GET ${path} HTTP/1.1`, "Host: a", "Connection: close", ...headerLines];
  const text = await sendRaw(port, `${requestHead.join("\r\n")}\r\n\r\n`);
  const codes = [...text.matchAll(/"code":"(\w+)"/g)].map(([, code]) => code);
  return [text.split(" ", 2)[1], ...codes].join(" ");
};

describe("an API key's header", () => {
  test.each([
    ["two different keys", [`X-API-Key: ${apiKey}`, `X-API-Key: ${otherKey}`]],
    ["one key twice", [`X-API-Key: ${apiKey}`, `x-api-key: ${apiKey}`]],
    ["a key and an empty one", [`X-API-Key: ${apiKey}`, "X-API-Key:"]],
    ["two keys in one line", [`X-API-Key: ${apiKey}, ${otherKey}`]],
    ["two keys with a semicolon", [`X-API-Key: ${apiKey};${otherKey}`]],
    ["a key in quotes", [`X-API-Key: "${apiKey}"`]],
    ["a scheme before the key", [`X-API-Key: Bearer ${apiKey}`]],
    ["a thousand keys", [`X-API-Key: ${Array.from({ length: 300 }, () => apiKey).join(",")}`]],
    ["bytes beyond ASCII", [`X-API-Key: ${apiKey}\u00e9`]],
    ["a tab within", [`X-API-Key: ${apiKey.slice(0, 20)}\t${apiKey.slice(20)}`]],
    ["13 KB", [`X-API-Key: ${"k".repeat(13_000)}`]],
  ])("with %s is not a valid key", async (_name, headerLines) => {
    expect(await sendRawHeaders(app, headerLines)).toBe("401 INVALID_API_KEY");
  });

  test("ignores whitespace around a key", async () => {
    expect(await sendRawHeaders(app, [`X-API-Key: \t ${apiKey}  `])).toBe("200");
  });

  test.each([
    ["nothing", ["X-API-Key:"]],
    ["blanks", ["X-API-Key:   \t "]],
    [
      "another name",
      [`X-Api-Keys: ${apiKey}`, `Authorization: ${apiKey}`, `Cookie: x-api-key=${apiKey}`],
    ],
  ])("given %s, the caller is unauthenticated", async (_name, headerLines) => {
    expect(await sendRawHeaders(app, headerLines)).toBe("401 UNAUTHENTICATED");
  });

  test.each([
    ["100 KB", `X-API-Key: ${"k".repeat(100_000)}`, "431 REQUEST_HEADERS_TOO_LARGE"],
    ["a NUL", `X-API-Key: ${apiKey}\0`, "400 BAD_REQUEST"],
    ["a bare line feed", `X-API-Key: ${apiKey}\n X: y`, "400 BAD_REQUEST"],
    ["a folded line", `X-API-Key: ${apiKey}\r\n ${apiKey}`, "400 BAD_REQUEST"],
  ])(
    "with %s ends the request before any bucket or introspection request",
    async (_name, headerLine, expectedResponse) => {
      const [introspectionCountBefore, bucketCountBefore] = [
        app.getIntrospectionCount(),
        app.requestedBuckets.length,
      ];
      expect(await sendRawHeaders(app, [headerLine])).toBe(expectedResponse);
      expect([app.getIntrospectionCount(), app.requestedBuckets.length]).toEqual([
        introspectionCountBefore,
        bucketCountBefore,
      ]);
    },
  );
});

describe("a session's cookie", () => {
  test.each([
    ["100 KB", `Cookie: session=${"s".repeat(100_000)}`, "431 REQUEST_HEADERS_TOO_LARGE"],
    ["10 KB", `Cookie: session=${"s".repeat(10_000)}`, "401 UNAUTHENTICATED"],
    ["an invalid escape", "Cookie: session=%E0%A4%A", "401 UNAUTHENTICATED"],
    ["no pair", "Cookie: ;;;=;session", "401 UNAUTHENTICATED"],
    ["names of prototype properties", "Cookie: __proto__=x; constructor=y", "401 UNAUTHENTICATED"],
  ])("of %s is rejected", async (_name, headerLine, expectedResponse) => {
    expect(await sendRawHeaders(app, [headerLine], "/console")).toBe(expectedResponse);
  });
});

describe("a forged X-Forwarded-For", () => {
  const forgedValues = [
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

  test.each(forgedValues)("%j has no effect if no proxy is trusted", async (value) => {
    app.requestedBuckets.length = 0;
    expect(await sendRawHeaders(app, [`X-Forwarded-For: ${value}`])).toBe("401 UNAUTHENTICATED");
    expect(app.requestedBuckets).toEqual([["ip 127.0.0.1"]]);
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
  ])(
    "%j from a trusted proxy is limited by the address that the proxy reported",
    async (value, countedAddress) => {
      proxied.requestedBuckets.length = 0;
      expect(await sendRawHeaders(proxied, [`X-Forwarded-For: ${value}`])).toBe(
        "401 UNAUTHENTICATED",
      );
      expect(proxied.requestedBuckets).toEqual([[`ip ${countedAddress}`]]);
    },
  );

  test("on several lines, the last line is the nearest proxy's", async () => {
    proxied.requestedBuckets.length = 0;
    await sendRawHeaders(proxied, ["X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 9.9.9.9"]);
    expect(proxied.requestedBuckets).toEqual([["ip 9.9.9.9"]]);
  });
});
