import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { apiErrorCodes } from "@payment-links/contracts";
import { type Rig, createRig } from "../testing/create-rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

describe("the docs", () => {
  test("are served to anyone under the policy of pages (rule DOCS-1)", async () => {
    for (const path of ["/docs", "/docs/webhooks", "/docs/errors"]) {
      const { headers, status, text } = await rig.call(path);
      expect([path, status, headers.get("content-type")]).toEqual([
        path,
        200,
        "text/html; charset=utf-8",
      ]);
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; " +
          "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      expect(headers.get("cache-control")).toBe("no-store");
      expect(text).toContain("<h1 ");
    }
  });

  test("load files that browsers can store, limited like other files", async () => {
    const { text } = await rig.call("/docs");
    const urls = [...text.matchAll(/="(\/docs\/assets\/[^"]+)"/g)].map(([, url = ""]) => url);
    expect(urls).toHaveLength(3);
    for (const url of urls) {
      const { headers, status } = await rig.call(url);
      expect([url, status]).toEqual([url, 200]);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("ratelimit-policy")).toMatch(/^"files";q=\d+/);
    }
  });

  test("serve only their own pages and files", async () => {
    for (const path of [
      "/docs/nothing",
      "/docs/..%2fsources",
      "/docs/index.html",
      "/docs/assets/docs.css",
      "/docs/assets/..%2f..%2fpackage.json",
    ])
      expect([path, (await rig.call(path)).status]).toEqual([path, 404]);
  });
});

describe("an error of the public API", () => {
  test.each([
    ["/v1/payment-link", 401, "UNAUTHENTICATED"],
    ["/v1/payment-link/none", 404, "CANNOT_FIND_PAYMENT_LINK"],
    ["/v1/nothing", 404, "NOT_FOUND"],
  ])(
    "links to the entry of its code in the docs: %s (rule ERROR-7)",
    async (path, status, code) => {
      const response = await rig.call(path);
      expect([response.status, response.json.errors[0].code]).toEqual([status, code]);
      expect(apiErrorCodes).toContain(code);
      expect(response.headers.get("link")).toBe(`</docs/errors#${code}>; rel="help"`);
    },
  );

  test("has no such link outside of /v1", async () => {
    const response = await rig.call("/console/api/payment-links");
    expect([response.status, response.headers.get("link")]).toEqual([401, null]);
  });
});
