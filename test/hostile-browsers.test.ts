import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
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
    for (const path of paths) {
      for (const method of ["GET", "HEAD", "OPTIONS"] as const) {
        const answer = await request(`${system.baseUrl}${path}`, { method });
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

describe("where an answer sends a browser", () => {
  const wishes = ["next", "redirect", "return_to", "url", "continue"]
    .map((name) => `${name}=${encodeURIComponent(`https://${evil}/`)}`)
    .join("&");
  const hosts = { host: evil, "x-forwarded-host": evil, forwarded: `host=${evil}` };

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
