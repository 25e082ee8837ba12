import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { connect } from "node:net";
import { request } from "undici";
import { type Merchant, call, createMerchant } from "./rig/client.ts";
import { startServicesInProcess } from "./rig/services-in-process.ts";

type System = Awaited<ReturnType<typeof startServicesInProcess>>;
let system: System;
let shop: Merchant;

beforeAll(async () => {
  system = await startServicesInProcess();
  shop = await createMerchant(system, "lured");
});
afterAll(() => system?.close());

const evilHost = "evil.example";

/** Replaces a path's parameters with a placeholder. */
const fillParameters = (path: string): string => path.replaceAll(/:\w+/g, "x");

const getOwnHost = (): string => new URL(system.baseUrl).host;

/** Sends a raw request that no HTTP client would send, and parses the single response. */
const sendRawRequest = async (...lines: string[]) => {
  const { hostname, port } = new URL(system.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`, "latin1");
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("latin1");
  const [statusLine = "", ...headerLines] = text.split("\r\n\r\n", 1)[0]?.split("\r\n") ?? [];
  const headers = new Map(
    headerLines.map((line) => [
      line.split(":", 1)[0]?.toLowerCase() ?? "",
      line.replace(/^[^:]*: */, ""),
    ]),
  );
  return { statusLine, headers, text };
};

const fetchHeaders = async (path: string, headers: Record<string, string>) => {
  const response = await request(`${system.baseUrl}${path}`, { headers });
  await response.body.dump();
  return response.headers;
};

describe("a mail scanner", () => {
  test("opens a sign-in link in every possible way, and the link still works", async () => {
    const created = await call(`${system.internalUrl}/internal/sign-in-links`, {
      method: "POST",
      body: { handle: shop.handle },
    });
    const link = new URL(String(created.body["signInUrl"]));
    const token = link.hash.slice("#token=".length);
    const paths = [
      link.pathname,
      `${link.pathname}?token=${token}`,
      `${link.pathname}/%23token=${token}`,
      `/console/api/session?token=${token}`,
      `/console/api/session/link?token=${token}`,
      `/console/api/session/form?link=${token}&confirmed=yes`,
    ];
    const prefetchHeaders = { "sec-purpose": "prefetch;prerender", purpose: "prefetch" };
    for (const path of paths) {
      for (const [method, headers] of [
        ["GET", {}],
        ["GET", prefetchHeaders],
        ["HEAD", {}],
        ["OPTIONS", {}],
      ] as const) {
        const response = await request(`${system.baseUrl}${path}`, { method, headers });
        await response.body.dump();
        expect([path, response.headers["set-cookie"]]).toEqual([path, undefined]);
      }
    }
    const body = { token };
    // Some scanners run the page's script, which requests the owner of the sign-in link.
    await call(`${system.baseUrl}/console/api/session/link`, { method: "POST", body });
    const signInResponse = await call(`${system.baseUrl}/console/api/session`, {
      method: "POST",
      body,
    });
    expect([signInResponse.status, signInResponse.body["id"]]).toEqual([200, shop.userId]);
  });
});

/**
 * Content types that a form on any site can send without a preflight request, and variants of them.
 */
const formTypes = [
  "application/x-www-form-urlencoded",
  "text/plain",
  "text/plain; application/json",
  "multipart/form-data; boundary=b",
] as const;

describe("a form on another site", () => {
  /** A mail program sends this request without a cookie. The token in the path authorizes it. */
  const unsubscribePath = "/console/api/unsubscribe/:token";
  const listWriteRoutes = () =>
    system.publicRoutes.filter(
      ({ method, path }) =>
        method !== "get" && path.startsWith("/console/") && path !== unsubscribePath,
    );
  const submitForm = async (
    route: { method: string; path: string },
    headers: Record<string, string>,
    body = '{"toAmount":"5","name":"x","a":"=b"}',
  ) => {
    const response = await request(`${system.baseUrl}${fillParameters(route.path)}`, {
      method: route.method.toUpperCase() as "POST",
      headers: { cookie: shop.cookie, ...headers },
      body,
    });
    const text = await response.body.text();
    return `${route.path} ${response.statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ""}`.trim();
  };

  test("changes nothing on any route of the console but unsubscribing, with any content type (rule MAIL-7)", async () => {
    expect(listWriteRoutes().length).toBeGreaterThan(15);
    const foreignHeaders = [
      { "sec-fetch-site": "cross-site", origin: `https://${evilHost}` },
      { "sec-fetch-site": "same-site", origin: "http://other.127.0.0.1" },
      // Browsers without Fetch Metadata send these headers. The second browser hides the origin.
      { origin: `https://${evilHost}` },
      { origin: "null" },
    ] as Record<string, string>[];
    for (const route of listWriteRoutes()) {
      // This route responds with an HTML page instead of an error code.
      const code = route.path.endsWith("/form") ? "" : " CROSS_SITE_REQUEST";
      for (const type of formTypes) {
        for (const headers of foreignHeaders) {
          const result = await submitForm(route, { ...headers, "content-type": type });
          expect(result).toBe(`${route.path} 403${code}`);
        }
      }
    }
  });

  test("cannot override the method through a header or a field", async () => {
    const { body } = await call(`${system.baseUrl}/console/api/api-keys`, {
      headers: { cookie: shop.cookie },
    });
    const [key] = body["data"] as { id: string }[];
    const path = `/console/api/api-keys/${key?.id ?? ""}`;
    for (const requestPath of [path, `${path}?_method=DELETE`]) {
      const result = await submitForm(
        { method: "post", path: requestPath },
        {
          "content-type": "application/x-www-form-urlencoded",
          "x-http-method-override": "DELETE",
        },
        "_method=DELETE",
      );
      expect(result).toContain("405");
    }
  });
});

describe("a JSON body with another content type", () => {
  const jsonBody = '{"toAmount":"5"}';
  const contentTypes = [
    ...formTypes,
    "",
    "application/javascript",
    "application/jsonp",
    "application/xml",
    "json",
    "application/json-patch",
  ];

  test.each(contentTypes)("creates no link as %j, with an API key or a session", async (type) => {
    for (const [path, callerHeaders] of [
      ["/v1/payment-link", { "x-api-key": shop.apiKey }],
      ["/console/api/payment-links", { cookie: shop.cookie }],
    ] as const) {
      const response = await request(`${system.baseUrl}${path}`, {
        method: "POST",
        headers: { ...callerHeaders, ...(type === "" ? {} : { "content-type": type }) },
        body: jsonBody,
      });
      const { errors } = (await response.body.json()) as { errors: { code: string }[] };
      expect([response.statusCode, errors[0]?.code]).toEqual([422, "model_attributes_type"]);
    }
  });
});

describe("a cookie set by a sibling domain", () => {
  let httpsSystem: System;
  let victim: Merchant;
  let attacker: Merchant;
  beforeAll(async () => {
    httpsSystem = await startServicesInProcess({ baseUrl: "https://pay.example" });
    victim = await createMerchant(httpsSystem, "victim");
    attacker = await createMerchant(httpsSystem, "thief");
  });
  afterAll(() => httpsSystem?.close());

  const identify = async (cookie: string) => {
    const response = await call(`${httpsSystem.baseUrl}/console/api/account`, {
      headers: { cookie },
    });
    return response.status === 200 ? response.body["id"] : response.status;
  };

  test("is no session under any name that browsers allow it to use", async () => {
    // A sibling domain can set every cookie except the one with the `__Host-` prefix. Without that
    // cookie, the others are ignored.
    const [siblingCookie = "", token = ""] = attacker.cookie.split(/; __Host-session=/);
    expect(siblingCookie).toMatch(/^__Secure-session=/);
    expect(await identify(siblingCookie)).toBe(401);
    expect(await identify(`${siblingCookie}; ${victim.cookie}`)).toBe(401);
    expect(await identify(attacker.cookie)).toBe(attacker.userId);
    // For names that start with `__Host-` in any case, browsers enforce the prefix's rules.
    const names = [
      "session",
      "__Secure-session",
      "__host-session",
      "__HOST-session",
      "__Host-Session",
      "%5F%5FHost-session",
      "__Host%2Dsession",
      "\u00A0__Host-session",
      "\u0085__Host-session",
      "\u00C2\u00A0__Host-session",
      "\u00E2\u0080\u0080__Host-session",
      "$Version=1; $Path",
      '"__Host-session"',
    ];
    for (const name of names) {
      const forgedCookies = `${name}=${token}; ${siblingCookie}`;
      expect([name, await identify(forgedCookies)]).toEqual([name, 401]);
      expect([name, await identify(`${forgedCookies}; ${victim.cookie}`)]).toEqual([name, 401]);
      expect([name, await identify(`${victim.cookie}; ${forgedCookies}`)]).toEqual([
        name,
        victim.userId,
      ]);
    }
    // A cookie without a name can look like a cookie with that name.
    expect(await identify(`=__Host-session=${token}; ${victim.cookie}`)).toBe(victim.userId);
    expect(await identify(`x="; ${attacker.cookie}"; ${victim.cookie}`)).not.toBe(victim.userId);
  });

  test("does not displace the session by size or number of cookies", async () => {
    const manyCookies = Array.from(
      { length: 150 },
      (_, index) => `t${index}=${"x".repeat(20)}`,
    ).join("; ");
    expect(await identify(`${manyCookies}; ${victim.cookie}`)).toBe(victim.userId);
  });
});

describe("the target of a redirect", () => {
  const names = ["next", "redirect", "redirect_uri", "return_to", "returnTo", "url", "continue"];
  /** Targets that a browser parses as a URL although some parsers treat them as a path. */
  const targets = [
    `https://${evilHost}/`,
    `https:${evilHost}`,
    `https:/${evilHost}`,
    `//${evilHost}`,
    `///${evilHost}`,
    `/\\${evilHost}`,
    `\\\\${evilHost}`,
    `/\t/${evilHost}`,
    `/\n/${evilHost}`,
    `\t//${evilHost}`,
    `/%2f${evilHost}`,
    `%2f%2f${evilHost}`,
    `/%5c${evilHost}`,
    `//%00@${evilHost}`,
    `https://127.0.0.1@${evilHost}/`,
    `https://127.0.0.1.${evilHost}/`,
    `/console/../../\\${evilHost}`,
    `/.${evilHost}`,
    `data:text/html,${evilHost}`,
    `javascript:alert("${evilHost}")//`,
    `/console\r\nLocation: https://${evilHost}`,
  ];
  const buildRedirectQuery = (target: string) =>
    names.map((name) => `${name}=${encodeURIComponent(target)}`).join("&");
  const redirectQuery = buildRedirectQuery(`https://${evilHost}/`);
  const hostHeaders = {
    host: evilHost,
    "x-forwarded-host": evilHost,
    "x-forwarded-server": evilHost,
    "x-host": evilHost,
    "x-original-url": `//${evilHost}/`,
    "x-rewrite-url": `//${evilHost}/`,
    forwarded: `host=${evilHost}`,
  };

  test("is never taken from the query or a host header, on any route", async () => {
    const routes = system.publicRoutes.filter(({ method }) => method === "get");
    expect(routes.length).toBeGreaterThan(20);
    for (const { path } of routes) {
      for (const requestPath of [
        `${fillParameters(path)}?${redirectQuery}`,
        `/${fillParameters(path)}?${redirectQuery}`,
      ]) {
        const { location, ...headers } = await fetchHeaders(requestPath, {
          ...hostHeaders,
          cookie: shop.cookie,
          accept: "text/html",
        });
        if (location !== undefined) {
          expect(new URL(String(location), system.baseUrl).host).not.toContain(evilHost);
        }
        expect(JSON.stringify(headers)).not.toContain(evilHost);
      }
    }
  });

  test.each(targets)("is never taken from the requested target %j", async (target) => {
    const paths = ["/console", "/console/sign-in", "/console/api/session/oidc", "/", "//console"];
    const encodedTarget = target.replaceAll(/[^!-~]/g, encodeURIComponent);
    for (const requestTarget of [
      ...paths.map((path) => `${path}?${buildRedirectQuery(target)}`),
      `/${encodedTarget}`,
    ]) {
      const { statusLine, headers } = await sendRawRequest(
        `GET ${requestTarget} HTTP/1.1`,
        `Host: ${getOwnHost()}`,
      );
      expect([requestTarget, statusLine]).toEqual([
        requestTarget,
        expect.stringMatching(/^HTTP\/1\.1 [2345]\d\d /),
      ]);
      expect([requestTarget, headers.get("location") ?? ""]).toEqual([
        requestTarget,
        expect.not.stringContaining(evilHost),
      ]);
    }
  });

  test("and the links in a page or response are never taken from an absolute target or a host header", async () => {
    const link = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { ...hostHeaders, "x-api-key": shop.apiKey },
      body: { toAmount: "5" },
    });
    expect(String(link.body["url"])).toMatch(/^https:\/\/pay\.example\/@lured\/pay\//);
    const { pathname } = new URL(String(link.body["url"]));
    const hostHeaderLines = Object.entries(hostHeaders).map(([name, value]) => `${name}: ${value}`);
    for (const path of [pathname, pathname.toUpperCase(), "/console", "/v1/openapi.json"]) {
      for (const target of [path, `http://${evilHost}${path}`, `https://${evilHost}:443${path}`]) {
        const { statusLine, text } = await sendRawRequest(
          `GET ${target} HTTP/1.1`,
          ...hostHeaderLines,
        );
        expect([target, statusLine]).toEqual([
          target,
          expect.stringMatching(/^HTTP\/1\.1 [234]\d\d /),
        ]);
        expect([target, text]).toEqual([target, expect.not.stringContaining(evilHost)]);
      }
    }
  });

  test("is not taken from them after a sign-in by form", async () => {
    const created = await call(`${system.internalUrl}/internal/sign-in-links`, {
      method: "POST",
      body: { handle: shop.handle },
    });
    const token = String(created.body["signInUrl"]).split("#token=")[1] ?? "";
    const response = await request(`${system.baseUrl}/console/api/session/form?${redirectQuery}`, {
      method: "POST",
      headers: { ...hostHeaders, "content-type": "application/x-www-form-urlencoded" },
      body: `link=${token}&confirmed=yes&${redirectQuery}`,
    });
    await response.body.dump();
    expect(response.statusCode).toBe(303);
    expect(String(response.headers["location"])).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console$/);
  });
});
