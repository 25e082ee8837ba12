import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { connect } from "node:net";
import { request } from "undici";
import { type Merchant, call, openMerchant } from "./rig/client.ts";
import { openServicesInProcess } from "./rig/services-in-process.ts";

type System = Awaited<ReturnType<typeof openServicesInProcess>>;
let system: System;
let shop: Merchant;

beforeAll(async () => {
  system = await openServicesInProcess();
  shop = await openMerchant(system, "lured");
});
afterAll(() => system?.close());

const evil = "evil.example";

/** A path with something in place of its parameters. */
const filled = (path: string): string => path.replaceAll(/:\w+/g, "x");

const ownHost = (): string => new URL(system.baseUrl).host;

/** Sends a request as it stands, which no client would write, and reads the one answer to it. */
const sendRaw = async (...lines: string[]) => {
  const { hostname, port } = new URL(system.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`, "latin1");
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("latin1");
  const [head = "", ...rest] = text.split("\r\n\r\n", 1)[0]?.split("\r\n") ?? [];
  const headers = new Map(
    rest.map((line) => [line.split(":", 1)[0]?.toLowerCase() ?? "", line.replace(/^[^:]*: */, "")]),
  );
  return { head, headers, text };
};

const headersOf = async (path: string, headers: Record<string, string>) => {
  const answer = await request(`${system.baseUrl}${path}`, { headers });
  await answer.body.dump();
  return answer.headers;
};

describe("a scanner of mail", () => {
  test("opens a sign-in link in every way it can, and the link still works", async () => {
    const made = await call(`${system.internalUrl}/internal/sign-in-links`, {
      method: "POST",
      body: { handle: shop.handle },
    });
    const link = new URL(String(made.body["signInUrl"]));
    const token = link.hash.slice("#token=".length);
    const paths = [
      link.pathname,
      `${link.pathname}?token=${token}`,
      `${link.pathname}/%23token=${token}`,
      `/console/api/session?token=${token}`,
      `/console/api/session/link?token=${token}`,
      `/console/api/session/form?link=${token}&confirmed=yes`,
    ];
    const prefetching = { "sec-purpose": "prefetch;prerender", purpose: "prefetch" };
    for (const path of paths) {
      for (const [method, headers] of [
        ["GET", {}],
        ["GET", prefetching],
        ["HEAD", {}],
        ["OPTIONS", {}],
      ] as const) {
        const answer = await request(`${system.baseUrl}${path}`, { method, headers });
        await answer.body.dump();
        expect([path, answer.headers["set-cookie"]]).toEqual([path, undefined]);
      }
    }
    const body = { token };
    // Some run the page's script, which asks whose link it is.
    await call(`${system.baseUrl}/console/api/session/link`, { method: "POST", body });
    const clicked = await call(`${system.baseUrl}/console/api/session`, { method: "POST", body });
    expect([clicked.status, clicked.body["id"]]).toEqual([200, shop.userId]);
  });
});

describe("another site's page", () => {
  const sent = [
    ["application/x-www-form-urlencoded", "toAmount=5&x=%7B%22toAmount%22%3A5%7D"],
    ["text/plain", '{"toAmount":"5"}'],
    ["multipart/form-data; boundary=b", '--b\r\n\r\n{"toAmount":"5"}\r\n--b--'],
    ["application/json", '{"toAmount":"5"}'],
  ] as const;

  test.each(sent)(
    "that posts a form of %s in a person's browser changes nothing",
    async (type, body) => {
      const send = async (headers: Record<string, string>) => {
        const answer = await request(`${system.baseUrl}/console/api/payment-links`, {
          method: "POST",
          headers: { cookie: shop.cookie, "content-type": type, ...headers },
          body,
        });
        const { errors } = (await answer.body.json()) as { errors?: { code: string }[] };
        return `${answer.statusCode} ${errors?.[0]?.code ?? ""}`;
      };
      for (const site of ["cross-site", "same-site", "none"]) {
        expect(await send({ "sec-fetch-site": site })).toBe("403 CROSS_SITE_REQUEST");
      }
      for (const origin of [`https://${evil}`, "null", `${system.baseUrl}.${evil}`]) {
        expect(await send({ origin })).toBe("403 CROSS_SITE_REQUEST");
      }
      // What only a program of the own site could send: still no form becomes an order.
      const own = await send({ "sec-fetch-site": "same-origin" });
      expect(own).toBe(type === "application/json" ? "200 " : "422 model_attributes_type");
    },
  );
});

/** What a form can be sent as, by any site, without asking; and what it can pretend to be. */
const formTypes = [
  "application/x-www-form-urlencoded",
  "text/plain",
  "text/plain; application/json",
  "multipart/form-data; boundary=b",
] as const;

describe("a form on another site", () => {
  const writing = () =>
    system.publicRoutes.filter(
      ({ method, path }) => method !== "get" && path.startsWith("/console/"),
    );
  const sendForm = async (
    route: { method: string; path: string },
    headers: Record<string, string>,
    body = '{"toAmount":"5","name":"x","a":"=b"}',
  ) => {
    const answer = await request(`${system.baseUrl}${filled(route.path)}`, {
      method: route.method.toUpperCase() as "POST",
      headers: { cookie: shop.cookie, ...headers },
      body,
    });
    const text = await answer.body.text();
    return `${route.path} ${answer.statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ""}`.trim();
  };

  test("writes nothing by any route of the console, whatever it is sent as", async () => {
    expect(writing().length).toBeGreaterThan(15);
    const foreign = [
      { "sec-fetch-site": "cross-site", origin: `https://${evil}` },
      { "sec-fetch-site": "same-site", origin: "http://other.127.0.0.1" },
      // Of browsers that know no Fetch Metadata, one hides the origin.
      { origin: `https://${evil}` },
      { origin: "null" },
    ] as Record<string, string>[];
    for (const route of writing()) {
      // Its refusal is a page, for a person.
      const code = route.path.endsWith("/form") ? "" : " CROSS_SITE_REQUEST";
      for (const type of formTypes) {
        for (const headers of foreign) {
          const told = await sendForm(route, { ...headers, "content-type": type });
          expect(told).toBe(`${route.path} 403${code}`);
        }
      }
    }
  });

  test("cannot call by a method that a form has not: nobody reads it from a header or a field", async () => {
    const { body } = await call(`${system.baseUrl}/console/api/api-keys`, {
      headers: { cookie: shop.cookie },
    });
    const [key] = body["data"] as { id: string }[];
    const path = `/console/api/api-keys/${key?.id ?? ""}`;
    for (const at of [path, `${path}?_method=DELETE`]) {
      const told = await sendForm(
        { method: "post", path: at },
        {
          "content-type": "application/x-www-form-urlencoded",
          "x-http-method-override": "DELETE",
        },
        "_method=DELETE",
      );
      expect(told).toContain("405");
    }
  });
});

describe("a body of JSON that says it is something else", () => {
  const json = '{"toAmount":"5"}';
  const types = [
    ...formTypes,
    "",
    "application/javascript",
    "application/jsonp",
    "application/xml",
    "json",
    "application/json-patch",
  ];

  test.each(types)("is no order as %j, of a key or of a session", async (type) => {
    for (const [path, caller] of [
      ["/v1/payment-link", { "x-api-key": shop.apiKey }],
      ["/console/api/payment-links", { cookie: shop.cookie }],
    ] as const) {
      const answer = await request(`${system.baseUrl}${path}`, {
        method: "POST",
        headers: { ...caller, ...(type === "" ? {} : { "content-type": type }) },
        body: json,
      });
      const { errors } = (await answer.body.json()) as { errors: { code: string }[] };
      expect([answer.statusCode, errors[0]?.code]).toEqual([422, "model_attributes_type"]);
    }
  });
});

describe("a cookie that a sibling domain has set", () => {
  let https: System;
  let victim: Merchant;
  let thief: Merchant;
  beforeAll(async () => {
    https = await openServicesInProcess({ baseUrl: "https://pay.example" });
    victim = await openMerchant(https, "victim");
    thief = await openMerchant(https, "thief");
  });
  afterAll(() => https?.close());

  const whoIs = async (cookie: string) => {
    const answer = await call(`${https.baseUrl}/console/api/account`, { headers: { cookie } });
    return answer.status === 200 ? answer.body["id"] : answer.status;
  };

  test("is no session, by whatever name that browsers let it have", async () => {
    // A sibling can set each cookie but the one of the prefix `__Host-`, without which none counts.
    const [tossable = "", token = ""] = thief.cookie.split(/; __Host-session=/);
    expect(tossable).toMatch(/^__Secure-session=/);
    expect(await whoIs(tossable)).toBe(401);
    expect(await whoIs(`${tossable}; ${victim.cookie}`)).toBe(401);
    expect(await whoIs(thief.cookie)).toBe(thief.userId);
    // Browsers hold `__Host-` against its rules in any case, and where it is the name's beginning.
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
      const tossed = `${name}=${token}; ${tossable}`;
      expect([name, await whoIs(tossed)]).toEqual([name, 401]);
      expect([name, await whoIs(`${tossed}; ${victim.cookie}`)]).toEqual([name, 401]);
      expect([name, await whoIs(`${victim.cookie}; ${tossed}`)]).toEqual([name, victim.userId]);
    }
    // A cookie without a name can look like one that has it.
    expect(await whoIs(`=__Host-session=${token}; ${victim.cookie}`)).toBe(victim.userId);
    expect(await whoIs(`x="; ${thief.cookie}"; ${victim.cookie}`)).not.toBe(victim.userId);
  });

  test("does not push the session out by its size or their number", async () => {
    const many = Array.from({ length: 150 }, (_, index) => `t${index}=${"x".repeat(20)}`).join(
      "; ",
    );
    expect(await whoIs(`${many}; ${victim.cookie}`)).toBe(victim.userId);
  });
});

describe("where an answer sends a browser", () => {
  const names = ["next", "redirect", "redirect_uri", "return_to", "returnTo", "url", "continue"];
  /** Forms that some reader somewhere has taken for a path, and a browser for an address. */
  const targets = [
    `https://${evil}/`,
    `https:${evil}`,
    `https:/${evil}`,
    `//${evil}`,
    `///${evil}`,
    `/\\${evil}`,
    `\\\\${evil}`,
    `/\t/${evil}`,
    `/\n/${evil}`,
    `\t//${evil}`,
    `/%2f${evil}`,
    `%2f%2f${evil}`,
    `/%5c${evil}`,
    `//%00@${evil}`,
    `https://127.0.0.1@${evil}/`,
    `https://127.0.0.1.${evil}/`,
    `/console/../../\\${evil}`,
    `/.${evil}`,
    `data:text/html,${evil}`,
    `javascript:alert("${evil}")//`,
    `/console\r\nLocation: https://${evil}`,
  ];
  const wish = (target: string) =>
    names.map((name) => `${name}=${encodeURIComponent(target)}`).join("&");
  const wishes = wish(`https://${evil}/`);
  const hosts = {
    host: evil,
    "x-forwarded-host": evil,
    "x-forwarded-server": evil,
    "x-host": evil,
    "x-original-url": `//${evil}/`,
    "x-rewrite-url": `//${evil}/`,
    forwarded: `host=${evil}`,
  };

  test("is never chosen by the query or by a host header, on any route", async () => {
    const routes = system.publicRoutes.filter(({ method }) => method === "get");
    expect(routes.length).toBeGreaterThan(20);
    for (const { path } of routes) {
      for (const at of [`${filled(path)}?${wishes}`, `/${filled(path)}?${wishes}`]) {
        const { location, ...headers } = await headersOf(at, {
          ...hosts,
          cookie: shop.cookie,
          accept: "text/html",
        });
        if (location !== undefined) {
          expect(new URL(String(location), system.baseUrl).host).not.toContain(evil);
        }
        expect(JSON.stringify(headers)).not.toContain(evil);
      }
    }
  });

  test.each(targets)("is never chosen by a wish for %j", async (target) => {
    const paths = ["/console", "/console/sign-in", "/console/api/session/oidc", "/", "//console"];
    const encoded = target.replaceAll(/[^!-~]/g, encodeURIComponent);
    for (const at of [...paths.map((path) => `${path}?${wish(target)}`), `/${encoded}`]) {
      const { head, headers } = await sendRaw(`GET ${at} HTTP/1.1`, `Host: ${ownHost()}`);
      expect([at, head]).toEqual([at, expect.stringMatching(/^HTTP\/1\.1 [2345]\d\d /)]);
      expect([at, headers.get("location") ?? ""]).toEqual([at, expect.not.stringContaining(evil)]);
    }
  });

  test("nor what a page or an answer links to, by an absolute target or any host header", async () => {
    const link = await call(`${system.baseUrl}/v1/payment-link`, {
      method: "POST",
      headers: { ...hosts, "x-api-key": shop.apiKey },
      body: { toAmount: "5" },
    });
    expect(String(link.body["url"])).toMatch(/^https:\/\/pay\.example\/@lured\/pay\//);
    const { pathname } = new URL(String(link.body["url"]));
    const more = Object.entries(hosts).map(([name, value]) => `${name}: ${value}`);
    for (const path of [pathname, pathname.toUpperCase(), "/console", "/v1/openapi.json"]) {
      for (const target of [path, `http://${evil}${path}`, `https://${evil}:443${path}`]) {
        const { head, text } = await sendRaw(`GET ${target} HTTP/1.1`, ...more);
        expect([target, head]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 [234]\d\d /)]);
        expect([target, text]).toEqual([target, expect.not.stringContaining(evil)]);
      }
    }
  });

  test("is not chosen by them after signing in by a form either", async () => {
    const made = await call(`${system.internalUrl}/internal/sign-in-links`, {
      method: "POST",
      body: { handle: shop.handle },
    });
    const token = String(made.body["signInUrl"]).split("#token=")[1] ?? "";
    const answer = await request(`${system.baseUrl}/console/api/session/form?${wishes}`, {
      method: "POST",
      headers: { ...hosts, "content-type": "application/x-www-form-urlencoded" },
      body: `link=${token}&confirmed=yes&${wishes}`,
    });
    await answer.body.dump();
    expect(answer.statusCode).toBe(303);
    expect(String(answer.headers["location"])).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console$/);
  });
});
